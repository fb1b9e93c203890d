"""The Text tab: the description as it was submitted and as the broker runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.description.highlighter import Highlighter
from app.inspector import job_times
from app.jobs.copy_to_edit import open_copy
from app.widgets.job_pane import JobPane
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import JobDetail


class TextPane(JobPane):
    """Read-only text with the colours of the editor, and the files the job was sent with."""

    title = "Description"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.which, self.text = QComboBox(), QPlainTextEdit()
        self.open, self.copy = QPushButton("Open in editor"), QToolButton()
        self.sent = label(role="muted", wrap=True)
        self.detail: JobDetail | None = None
        self._highlighter = Highlighter(self.text.document(), context.theme)
        self._fill()
        self.which.currentIndexChanged.connect(self._show_text)
        self.open.clicked.connect(self.open_in_editor)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        context.theme.changed.connect(self._set_font)
        self._set_font()

    def _fill(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 8, 8, 8)
        bar.setSpacing(4)
        self.which.addItems(["Submitted", "As run"])
        self.which.setAccessibleName("Which text")
        self.which.setToolTip(
            "As you submitted it, or as the broker runs it: value filled in, defaults added"
        )
        self.copy.setToolTip("Copy the text")
        self.copy.setAccessibleName("Copy the text")
        self.open.setIcon(self.context.theme.icon("pencil"))
        self.copy.setIcon(self.context.theme.icon("copy"))
        for part in (self.which, self.open, self.copy):
            bar.addWidget(part)
        bar.insertStretch(2, 1)
        self.text.setReadOnly(True)
        self.text.setProperty("frame", "none")
        self.text.setAccessibleName("Description of the job")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.sent.setContentsMargins(12, 8, 12, 12)
        column = QVBoxLayout(self.content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.text, 1)
        column.addWidget(self.sent)

    def _set_font(self) -> None:
        self.text.setFont(self.context.theme.font("mono"))

    def refresh(self) -> None:
        """Ask, unless the text is here already: a description never changes."""
        if self.detail is None or self.detail.row["id"] != self.job:
            super().refresh()

    async def load(self, job: str) -> JobDetail:
        """Ask for the job."""
        return await self.context.client.job(job)

    def clear(self) -> None:
        """Forget the text shown before."""
        self.detail = None

    def render_answer(self, answer: JobDetail) -> None:
        """Show the texts and the files."""
        self.detail = answer
        self.which.setEnabled(answer.effective not in ("", answer.description))
        if not self.which.isEnabled():
            self.which.setCurrentIndex(0)
        self.sent.setText(sent_words(answer))
        self._show_text()

    def _show_text(self) -> None:
        if self.detail is not None:
            effective = self.which.currentIndex() == 1
            self.text.setPlainText(self.detail.effective if effective else self.detail.description)

    def open_in_editor(self) -> None:
        """Open a copy of the description, with the files that it was sent with, in the editor."""
        if self.detail is not None:
            self.context.run(open_copy(self.context, self.detail.row["id"]), "opening the description")


def sent_words(detail: JobDetail) -> str:
    """Say which files the job was sent with."""
    if not detail.files:
        return "Sent without files."
    total = sum(one.size for one in detail.files)
    named = ", ".join(f"{one.name} ({job_times.size(one.size)})" for one in detail.files[:12])
    more = f" and {len(detail.files) - 12} more" if len(detail.files) > 12 else ""
    return f"Sent with {job_times.count(len(detail.files), 'file')}, {job_times.size(total)}: {named}{more}."
