"""The sheet of a project: a saved query whose jobs have a folder of their own for their output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.stores.saved_queries import SavedQuery, tag_query
from app.widgets.labels import label
from app.widgets.save_dialog import ask_folder, downloads
from broker_core.errors import BadRequest
from broker_core.jdl.user_tags import tag_of
from broker_core.jobs.query import parse

if TYPE_CHECKING:
    from app.context import AppContext

_ABOUT = "Its jobs save their output in its folder. While they are shown, new jobs get its tag."


class ProjectSheet(QDialog):
    """Asks for name, jobs and folder; what is not filled in follows from the name."""

    def __init__(self, context: AppContext, given: SavedQuery, parent: QWidget) -> None:
        """`given`: what is there already; without a name a new project."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._before = context, given.name
        self.name, self.query, self.folder = (
            QLineEdit(given.name),
            QLineEdit(given.text),
            QLineEdit(given.folder),
        )
        self.choose, self.go, self.cancel = QPushButton("Choose…"), QPushButton("Save"), QPushButton("Cancel")
        self.effect, self.problem = label(role="muted", wrap=True), label(role="negative", wrap=True)
        self.setWindowTitle("Project")
        self.setMinimumWidth(460)
        self._lay_out()
        for line in (self.name, self.query, self.folder):
            line.textChanged.connect(self._show)
        self.choose.clicked.connect(self._ask)
        self.go.clicked.connect(self._save)
        self.cancel.clicked.connect(self.reject)
        self._show()

    def _lay_out(self) -> None:
        form, foot, where = QFormLayout(), QHBoxLayout(), QHBoxLayout()
        form.setVerticalSpacing(8)
        for line, name in ((self.name, "Name"), (self.query, "Jobs"), (self.folder, "Folder")):
            line.setAccessibleName(name)
        where.setSpacing(8)
        where.addWidget(self.folder, 1)
        where.addWidget(self.choose)
        form.addRow("Name", self.name)
        form.addRow("Jobs", self.query)
        form.addRow("Folder", where)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.go)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        column.addWidget(label("Project" if self._before else "New project", "title"))
        column.addWidget(label(_ABOUT, "muted", wrap=True))
        column.addLayout(form)
        column.addWidget(self.effect)
        column.addWidget(self.problem)
        column.addStretch(1)
        column.addLayout(foot)
        self.go.setProperty("kind", "primary")
        self.go.setDefault(True)
        for button in (self.choose, self.cancel):
            button.setAutoDefault(False)

    def project(self) -> SavedQuery:
        """The project as it is filled in, and as it follows from the name where it is not."""
        name = self.name.text().strip()
        text = self.query.text().strip() or (tag_query(_word(name)) if _word(name) else "")
        folder = self.folder.text().strip() or (str(Path(downloads()) / _word(name)) if _word(name) else "")
        return SavedQuery(name, text, folder=folder)

    def _show(self) -> None:
        found = self.project()
        self.query.setPlaceholderText("" if self.query.text() else found.text or "for example tag:calib")
        self.folder.setPlaceholderText("" if self.folder.text() else found.folder or downloads())
        problem = self._problem(found)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        words = (
            f"New jobs get the tag {found.tag}."
            if found.tag
            else "New jobs get no tag: its query names none."
        )
        self.effect.setText(words if found.text and not problem else "")
        self.go.setEnabled(bool(found.name and found.text and found.folder) and not problem)

    def _problem(self, found: SavedQuery) -> str:
        wrong = parse(found.text).problems
        if wrong:
            return wrong[0].message
        if found.folder and not Path(found.folder).expanduser().is_absolute():
            return "Write the whole path of the folder, from / or ~ on."
        others = {one.name for one in self._context.saved.own if one.name != self._before}
        return f"There is another project or query {found.name}." if found.name in others else ""

    def _ask(self) -> None:
        ask_folder(
            self, "Save output in", self._context.preferences,
            lambda chosen: self.folder.setText(str(chosen)), remember=False,
        )  # fmt: skip

    def _save(self) -> None:
        found = self.project()
        self.accept()
        self._context.saved.save(found.name, found.text, found.folder, self._before)
        self._context.show_query(found.text)


def _word(name: str) -> str:
    """The name as a tag; empty if it can be none."""
    try:
        return tag_of("-".join(name.lower().split()))
    except BadRequest:
        return ""
