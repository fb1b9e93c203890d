"""The page "Where could it run?": the match view in a tab of its own, for an editor's text or a job's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from app.match.sending import send_job_again
from app.match.view import MatchView
from app.widgets.labels import label
from app.widgets.list_state import ListState, explain_link
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import SignalInstance

    from app.context import AppContext
    from app.match.view import MatchTarget


class MarkedText(Protocol):
    """A text in which a stretch can be marked."""

    def mark(self, start: int, end: int) -> None:
        """Mark the characters from `start` to `end`; an empty stretch takes the mark away."""
        ...


class FollowedEditor(Protocol):
    """An editor of a description, as the page follows it."""

    changed: SignalInstance
    """str: the text as it is now."""

    @property
    def source(self) -> MarkedText:
        """The text side."""
        ...

    @property
    def title(self) -> str:
        """Name of the description, with a sign while it is not saved."""
        ...

    @property
    def base(self) -> Path:
        """The folder that relative names in the text start from."""
        ...

    def text(self) -> str:
        """The description as it is now."""
        ...

    def submit_to(self, place: MatchTarget) -> None:
        """Submit the text to a chosen site."""
        ...


class MatchPage(QWidget):
    """Follows an editor while its text changes, or shows a job's description."""

    edited = Signal(object)
    """The editor that is followed, which the user wants in front."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._editor: FollowedEditor | None = None
        self.job = ""
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = label("Where could it run?", "title", fluid=True)
        self.match, self.state = MatchView(context), ListState(context.theme)
        self.edit = QPushButton("Edit description")
        self.refresh = tool_button(context.theme.icon("refresh-cw", "muted"), "Ask again")
        self._lay_out()
        self.match.submitAsked.connect(self._submit)
        self.match.clauseMarked.connect(self._mark)
        self.edit.clicked.connect(self._edit)
        self.refresh.clicked.connect(self.match.again)
        context.link.changed.connect(self._show)
        context.topics.resources.connect(self._knowledge_changed)
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

    def follow(self, editor: FollowedEditor) -> None:
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
        row = self._context.jobs.row(job)
        self.title.setText(f"Where could {row['name'] if row else job} run?")
        self._context.run(self._read(job), "reading the description of the job")
        self._show()

    async def _read(self, job: str) -> None:
        detail = await self._context.client.job(job)
        if job == self.job:
            self.match.ask(detail.effective or detail.description)

    def leave(self) -> None:
        """Follow nothing any more."""
        if self.editor is not None:
            self.editor.changed.disconnect(self._changed)
        self._editor, self.job = None, ""
        self._show()

    @property
    def editor(self) -> FollowedEditor | None:
        """The editor that is followed; None for none, and once its tab was closed."""
        if self._editor is not None and not isValid(self._editor):
            self._editor = None
        return self._editor

    def _changed(self, text: str) -> None:
        if self.isVisible() and self.editor is not None:
            self.match.ask(text, soon=True, base=self.editor.base)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask about what was written meanwhile."""
        super().showEvent(event)
        if self.editor is not None:
            self.match.ask(self.editor.text(), base=self.editor.base)

    def _knowledge_changed(self) -> None:
        if self.isVisible() and self.match.report is not None and not self.match.asking.pending:
            self.match.again()

    # --- what can be done

    def _submit(self, place: MatchTarget) -> None:
        row = self._context.jobs.row(self.job)
        if self.editor is not None:
            self.editor.submit_to(place)
        elif row is not None:
            self._context.run(send_job_again(self._context, row, place), f"submitting to {place.name}")

    def _mark(self, start: int, end: int) -> None:
        if self.editor is not None:
            self.editor.source.mark(start, end)

    def _edit(self) -> None:
        if self.editor is not None:
            self.edited.emit(self.editor)
        elif self.job:
            self._context.show_job(self.job, "text")

    # --- conditions

    def show_error(self, error: Exception) -> None:
        """Show why nothing can be told."""
        self.match.asking.failed.emit(str(error))

    def _show(self) -> None:
        about = bool(self.editor is not None or self.job)
        ready = about and (self._context.link.up or self.match.report is not None)
        self.state.setVisible(not ready)
        self.match.setVisible(ready)
        self._head.setVisible(ready)
        if not self._context.link.up:
            explain_link(self.state, self._context)
        elif not about:
            self.state.show_state(
                "route", "Where could it run?",
                "Open a description or select a job: here you see which resources match it, in which order, "
                "and clause by clause why the others do not.",
                ("Write a description", lambda: self._context.trigger("file.new")),
                ("Run a sample…", lambda: self._context.trigger("file.sample")),
            )  # fmt: skip
