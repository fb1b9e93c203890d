"""Dropped text that is no description: shown, and offered to be run as a script."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.context import AppContext
from app.description.code_font import code_font
from app.drops.plan import DropAction, plan_for
from app.submission.sheet import SubmissionSheet
from app.submission.sheet_layout import button_row
from broker_core.client.programs.describe import script_from_text
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.system.paths import places

NAME = "dropped.sh"


def kept_script(context: AppContext, text: str) -> Path:
    """Write a script into a folder of its own below the state directory, so that it can be sent."""
    shelf = places(context.state_dir).state / "dropped"
    shelf.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = Path(tempfile.mkdtemp(prefix="text-", dir=shelf)) / NAME
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text.encode("utf-8", "replace"))
    return file


class ScriptSheet(QDialog):
    """The text as a script that can still be changed."""

    def __init__(self, context: AppContext, text: str, parent: QWidget, site: str = "") -> None:
        super().__init__(parent)
        self._window = parent
        self._context, self._site = context, site
        self.setWindowTitle(self.tr("Run this text"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.text = QPlainTextEdit(text)
        self.text.setAccessibleName(self.tr("Script"))
        self.text.setFont(code_font(context.theme))
        self._lay_out()

    def _lay_out(self) -> None:
        self.resize(600, 420)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        headline = QLabel(self.tr("Run this text as a script?"))
        headline.setProperty("role", "title")
        hint = QLabel(self.tr("The first line names the program that runs it. Nothing is sent yet."))
        hint.setProperty("role", "muted")
        run = QPushButton(self.tr("Continue"))
        run.setProperty("kind", "primary")
        run.clicked.connect(self.accept)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        for part in (headline, hint, self.text):
            column.addWidget(part)
        column.addLayout(button_row(cancel, run))

    def open(self) -> None:
        """Show the sheet beside the window, which goes on."""
        self.show()

    def accept(self) -> None:
        """Keep the script as a file, and show the sheet that submits it."""
        file = kept_script(self._context, script_from_text(self.text.toPlainText()))
        plan = plan_for([classify(facts_of(file))])
        super().accept()
        if plan.action is DropAction.CONFIRM:
            sheet = SubmissionSheet(self._context, plan.jobs, self._window)
            sheet.choose_site(self._site)
            sheet.open()
