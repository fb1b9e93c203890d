"""The page "Where could this run?": the match view in a tab of its own, for an editor's text or a job's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from app.inspector.labels import label
from app.jobs.state_view import StateView, explain_link
from app.match.sending import send_job_again
from app.match.view import MatchView

if TYPE_CHECKING:
    from app.editor.editor import Editor
    from app.match.view import Place
    from app.shell.desk import WindowDesk


class MatchPage(QWidget):
    """Follows an editor while its text changes, or shows a job's description."""

    edited = Signal(object)
    """The editor that is followed, which the user wants in front."""

    def __init__(self, desk: WindowDesk) -> None:
        super().__init__()
        self._desk = desk
        self._editor: Editor | None = None
        self.job = ""
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = label("Where could this run?", "title", fluid=True)
        self.match, self.state = MatchView(desk), StateView(desk.theme)
        self.edit = QPushButton("Edit description")
        self.refresh = QToolButton(icon=desk.theme.icon("refresh-cw", "muted"), toolTip="Ask again")
        self.refresh.setAccessibleName("Ask again")
        self._lay_out()
        self.match.submitAsked.connect(self._submit)
        self.match.clauseMarked.connect(self._mark)
        self.edit.clicked.connect(self._edit)
        self.refresh.clicked.connect(self.match.again)
        desk.link.changed.connect(self._show)
        desk.topics.resources.connect(self._knowledge_changed)
        self._show()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setContentsMargins(12, 12, 12, 0)
        line.setSpacing(8)
        line.addWidget(self.title, 1)
        line.addWidget(self.edit)
        line.addWidget(self.refresh)
        self._head = QWidget()
        self._head.setLayout(line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part, share in ((self._head, 0), (self.match, 1), (self.state, 1)):
            column.addWidget(part, share)

    # --- what it is about

    def follow(self, editor: Editor) -> None:
        """Show where the text of an editor could run, as it changes."""
        if self.editor is not editor:
            self.leave()
            self._editor, self.job = editor, ""
            editor.changed.connect(self._changed)
        self.title.setText(f"Where could {editor.title.rstrip('• ')} run?")
        self.match.ask(editor.text(), base=editor.base)
        self._show()

    def show_job(self, job: str) -> None:
        """Show where the description of a job could run if it were submitted now."""
        self.leave()
        self.job = job
        row = self._desk.jobs.row(job)
        self.title.setText(f"Where could {row['name'] if row else job} run?")
        self._desk.run(self._read(job), "reading the description of the job")
        self._show()

    async def _read(self, job: str) -> None:
        detail = await self._desk.client.job(job)
        if job == self.job:
            self.match.ask(detail.effective or detail.description)

    def leave(self) -> None:
        """Follow nothing any more."""
        if self.editor is not None:
            self.editor.changed.disconnect(self._changed)
        self._editor, self.job = None, ""
        self._show()

    @property
    def editor(self) -> Editor | None:
        """The editor that is followed; None for none, and once its tab was closed."""
        if self._editor is not None and not isValid(self._editor):
            self._editor = None
        return self._editor

    def _changed(self, text: str) -> None:
        if self.isVisible() and self.editor is not None:
            self.match.ask(text, soon=True, base=self.editor.base)

    def showEvent(self, event) -> None:
        """Ask about what was written meanwhile."""
        super().showEvent(event)
        if self.editor is not None:
            self.match.ask(self.editor.text(), base=self.editor.base)

    def _knowledge_changed(self) -> None:
        if self.isVisible() and self.match.report is not None and not self.match.asking.pending:
            self.match.again()

    # --- what can be done

    def _submit(self, place: Place) -> None:
        row = self._desk.jobs.row(self.job)
        if self.editor is not None:
            self.editor.submit_to(place)
        elif row is not None:
            self._desk.run(send_job_again(self._desk, row, place), f"submitting to {place.name}")

    def _mark(self, start: int, end: int) -> None:
        if self.editor is not None:
            self.editor.source.mark(start, end)

    def _edit(self) -> None:
        if self.editor is not None:
            self.edited.emit(self.editor)
        elif self.job:
            self._desk.show_job(self.job, "text")

    # --- conditions

    def show_error(self, error: Exception) -> None:
        """Show why nothing can be told."""
        self.match.asking.failed.emit(str(error))

    def _show(self) -> None:
        about = bool(self.editor is not None or self.job)
        ready = about and (self._desk.link.up or self.match.report is not None)
        self.state.setVisible(not ready)
        self.match.setVisible(ready)
        self._head.setVisible(ready)
        if not self._desk.link.up:
            explain_link(self.state, self._desk)
        elif not about:
            self.state.show_state(
                "route", "Where could it run?",
                "Open a description or select a job: here you see which resources match it, in which order, "
                "and clause by clause why the others do not.",
                ("Write a description", lambda: self._desk.trigger("file.new")),
                ("Run a sample…", lambda: self._desk.trigger("file.sample")),
            )  # fmt: skip
