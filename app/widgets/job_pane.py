"""What all tabs of the inspector have in common: one job, asked for without waiting, shown honestly."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QGraphicsOpacityEffect, QStackedLayout, QVBoxLayout, QWidget

from app import units
from app.stores.link import ConnectionState
from app.stores.refresh import Refresh
from app.widgets.empty_state import EmptyState
from app.widgets.labels import label
from broker_core.errors import CrossDeskError, NotFound, Unreachable

if TYPE_CHECKING:
    from app.context import AppContext

_PATIENCE_MS = 120
"""An answer within this time replaces the old content without a loading page in between."""


class JobPane(QWidget):
    """A tab about one job. Subclasses fill `content` and say in `load` what to ask.

    Answers about a job that is no longer shown are dropped; nothing is asked while the pane is hidden.
    """

    title = ""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.job: str | None = None
        self._turn = 0
        self._refresh, self._stale = Refresh(), False
        self.content = QWidget()
        self.empty_state = EmptyState(context)
        self.banner = QFrame()
        self.banner.setProperty("role", "banner-warning")
        self.banner_text = label(wrap=True)
        self._lay_out()
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(self._show_loading)
        self.empty_state.acted.connect(self.act)
        context.jobs.changed.connect(self._rows_changed)
        context.link.changed.connect(self._link_changed)
        self._link_changed()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        inside = QVBoxLayout(self.banner)
        inside.setContentsMargins(12, 8, 12, 8)
        inside.addWidget(self.banner_text)
        self.banner.hide()
        column.addWidget(self.banner)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._stack.addWidget(self.empty_state)
        self._stack.addWidget(self.content)
        column.addWidget(holder, 1)

    # What a subclass says

    def load(self, job: str) -> Coroutine[Any, Any, Any]:
        """Return the coroutine that asks the broker for what this pane shows."""
        raise AssertionError(f"{type(self).__name__} must say what it loads for {job}")

    def render_answer(self, answer: Any) -> None:
        """Show what `load` returned."""
        raise AssertionError(f"{type(self).__name__} must show {type(answer).__name__}")

    def clear(self) -> None:
        """Forget everything about the job shown before; called when another job comes."""

    def act(self) -> None:
        """The button of the empty page was pressed; by default: ask again."""
        self.refresh()

    def close_all(self) -> None:
        """Give up what the pane holds, and answers on their way; called when it goes away for good."""
        self.show_job(None)

    # What the inspector calls

    def show_job(self, job: str | None) -> None:
        """Show this job; None: none."""
        if job == self.job:
            return
        self.job = job
        self._turn += 1
        self._refresh = Refresh()
        self.clear()
        if job is None:
            self.say_nothing_selected()
            return
        self._patience.start()
        self.refresh()

    def refresh(self) -> None:
        """Ask again, unless a question is already on its way; then ask once more afterwards."""
        if self.job is None:
            return
        if not self.isVisible():
            self._stale = True
        elif self._refresh.begin():
            self._stale = False
            self.context.run(self._ask(self.job, self._turn), f"reading {self.title.lower()} of the job")

    async def _ask(self, job: str, turn: int) -> None:
        refresh, failure, answer = self._refresh, None, None
        try:
            answer = await self.load(job)
        except CrossDeskError as error:
            failure = error
        finally:
            again = refresh.end()
        if turn != self._turn:
            return
        self._patience.stop()
        if again:
            QTimer.singleShot(0, self.refresh)
        if failure is not None:
            self.show_error(failure)
        else:
            self.show_content()
            self.render_answer(answer)

    # The conditions of a pane

    def show_content(self) -> None:
        """Show the content instead of an empty page."""
        self._stack.setCurrentWidget(self.content)
        self.banner.setVisible(self.context.link.state is not ConnectionState.CONNECTED)

    def showing_content(self) -> bool:
        """True while the content is what the user sees."""
        return self._stack.currentWidget() is self.content

    def show_empty_state(
        self,
        icon: str,
        heading: str,
        sentence: str,
        button: str = "",
        token: str = "muted",
        other: str = "",
    ) -> None:
        """Show a page with a heading and a sentence instead of the content."""
        self._patience.stop()
        self.empty_state.say(icon, heading, sentence, button, token, other)
        self._stack.setCurrentWidget(self.empty_state)

    def say_nothing_selected(self) -> None:
        """The empty condition."""
        self.show_empty_state("activity", "No job selected", "Select a job in the table to see it here.")

    def show_error(self, error: CrossDeskError) -> None:
        """The error and the disconnected condition; content that is already there stays, greyed."""
        if isinstance(error, Unreachable):
            if not self.showing_content():
                self.show_empty_state(
                    "unplug",
                    "The broker does not answer",
                    "The desk is trying again; this page fills by itself when it is back.",
                )
        elif isinstance(error, NotFound):
            self.show_empty_state("trash-2", "This job is gone", "It was purged, with its files.")
        else:
            sentence = f"{error} ".strip()
            self.show_empty_state("circle-alert", "This could not be read", sentence, "Try again", "negative")

    def _show_loading(self) -> None:
        self.empty_state.load()
        self._stack.setCurrentWidget(self.empty_state)

    # What happens around it

    def concerns(self, ids: set[str]) -> bool:
        """True if changed rows `ids` (empty: all) include the job shown."""
        return self.job is not None and (not ids or self.job in ids)

    def _rows_changed(self, ids: set[str]) -> None:
        if self.concerns(ids):
            self.refresh()

    def _link_changed(self) -> None:
        link = self.context.link
        connected = link.state is ConnectionState.CONNECTED
        self.banner.setVisible(not connected and self.showing_content())
        self.banner_text.setText(
            f"Not connected since {units.clock(link.since)}. Shown is what was last heard."
            + (f" {link.reason}" if link.reason else "")
        )
        self._gray(not connected)
        if not connected and self.job is not None and not self.showing_content():
            self.show_error(Unreachable(link.reason))
        if connected and self.job is not None:
            self.refresh()

    def _gray(self, on: bool) -> None:
        if not on:
            self.content.setGraphicsEffect(None)  # type: ignore[arg-type]
        elif self.content.graphicsEffect() is None:
            effect = QGraphicsOpacityEffect(self.content)
            effect.setOpacity(0.55)
            self.content.setGraphicsEffect(effect)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for what changed while the pane was hidden."""
        super().showEvent(event)
        if self._stale:
            self.refresh()
