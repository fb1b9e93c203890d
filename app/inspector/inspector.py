"""The inspector: everything about the selected job, or a summary of the selected jobs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from app.console.pane import ConsolePane
from app.inspector.coallocation.pane import CoallocationPane, several
from app.inspector.detached import DetachedPane
from app.inspector.header import JobHeader
from app.inspector.logs.pane import LogsPane
from app.inspector.multi_selection import MultiSelection
from app.inspector.output.pane import OutputPane
from app.inspector.outside import OutsidePane
from app.inspector.overflow_tabs import OverflowTabs
from app.inspector.story.pane import StoryPane
from app.inspector.text import TextPane
from app.inspector.use import UsePane
from app.inspector.view.pane import ViewPane
from app.match.choices import TriedChoices, tried_words
from app.match.sending import send_job_again
from app.match.view import MatchView
from app.widgets.empty_state import EmptyState
from app.widgets.job_pane import JobPane
from app.widgets.labels import breakable, label
from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import CHOOSING, JobState

if TYPE_CHECKING:
    from app.context import AppContext
    from app.match.view import MatchTarget
    from broker_core.wire.queue import WhyView
    from broker_core.wire.views import JobDetail
_CLOSE_TABS = "QTabBar::tab { padding-left: 8px; padding-right: 8px; }"
"""Seven tabs of an interactive job fit beside each other into the narrowest usual pane."""
_SECOND_MS, _WATCH_MS = 1000, 10_000


class WherePane(JobPane):
    """The match of the job's own description, as the scheduler would make it now; of a job that still has to
    start, with the choice that is being tried and those that failed (SA-UI-01)."""

    title = "Matching"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.match = MatchView(context)
        self.note = label(role="muted", wrap=True)
        self.note.setContentsMargins(12, 12, 12, 0)
        column = QVBoxLayout(self.content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.note)
        column.addWidget(self.match, 1)
        self.match.submitAsked.connect(self._submit)
        self._next_round = QTimer(self, singleShot=True)
        self._next_round.timeout.connect(self.refresh)

    async def load(self, job: str) -> tuple[JobDetail, WhyView | None]:
        """Ask for the job's description and, until a site has it, for how its choices fared; where it matches
        is asked by the view."""
        detail = await self.context.client.job(job)
        return detail, await self.context.client.why(job) if detail.row["state"] in CHOOSING else None

    def clear(self) -> None:
        """Forget the job shown before."""
        self._next_round.stop()
        self.match.mark(TriedChoices())
        self.match.ask("")

    def render_answer(self, answer: tuple[JobDetail, WhyView | None]) -> None:
        """Show where it could run, and where the job in fact went."""
        detail, why = answer
        row = self.context.jobs.row(self.job or "") or {}
        site = row.get("site")
        went = f"It went to {site_name(site)}. Submitted again now, this is what it would find:"
        note = tried_words(why) if why is not None else went if site else ""
        self.note.setText(breakable(note))
        self.note.setVisible(bool(note))
        self.match.mark(TriedChoices(why.trying, why.failed) if why is not None else TriedChoices())
        self.match.ask(detail.effective or detail.description)
        self._next_round.stop()
        if why is not None and why.next_round is not None:
            self._next_round.start(round(max(1.0, why.next_round + 1 - time.time()) * 1000))

    def _submit(self, place: MatchTarget) -> None:
        row = self.context.jobs.row(self.job or "")
        if row is not None:
            self.context.run(send_job_again(self.context, row, place), f"submitting to {place.name}")


PANES: tuple[tuple[str, type[JobPane]], ...] = (
    ("story", StoryPane),
    ("components", CoallocationPane),
    ("logs", LogsPane),
    ("output", OutputPane),
    ("console", ConsolePane),
    ("view", ViewPane),
    ("where", WherePane),
    ("use", UsePane),
    ("text", TextPane),
)
"""Name and class of each tab, in their order."""


class FirstTabs:
    """Which tab answers what one asks about a job: why it waits, what it prints, how it went.

    A tab that the user chose stays for jobs that stand alike: one who reads logs of ended jobs still sees
    at once why another waits.
    """

    def __init__(self) -> None:
        self._of = {"before": "story", "running": "logs", "over": "story"}
        self._asked = ("", "")
        """The job that a tab was asked for last, and that tab."""

    def tab(self, job: str, row: Mapping[str, Any] | None) -> str:
        """The tab for a job with this row; empty where nothing is known of it yet."""
        if job == self._asked[0]:
            return self._asked[1]
        return self._of[_stage(row)] if row else ""

    def keep(self, job: str, row: Mapping[str, Any] | None, tab: str) -> None:
        """The user wants this tab for the job, and for those that stand alike; without a job for all."""
        self._asked = (job, tab)
        if not job:
            self._of = dict.fromkeys(self._of, tab)
        elif row:
            self._of[_stage(row)] = tab


def _stage(row: Mapping[str, Any]) -> str:
    """Interactive jobs print into their console, not into the logs."""
    state = JobState(row["state"])
    if state is JobState.RUNNING and not row.get("interactive"):
        return "running"
    return "over" if state.ended else "before"


class Inspector(QWidget):
    """Shows what is selected: nothing, one job with its tabs, or many jobs."""

    opened = Signal(str, str)
    """A job's id and the view in front: the user wants it as a tab of the main area."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.ids: list[str] = []
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumSize(320, 240)  # its tabs scroll, or are squeezed, in a low window
        self.setAccessibleName("Inspector")
        self.header, self.tabs, self.multi_selection = (
            JobHeader(context),
            OverflowTabs(),
            MultiSelection(context),
        )
        self.outside = OutsidePane(context)
        self.empty = EmptyState(context)
        self.panes: dict[str, JobPane] = {name: kind(context) for name, kind in PANES}
        self.logs = cast("LogsPane", self.panes["logs"])
        self.detached: list[DetachedPane] = []
        self.view = cast("ViewPane", self.panes["view"])
        self._first = FirstTabs()
        self._lay_out()
        self._second, self._watch = QTimer(self, interval=_SECOND_MS), QTimer(self, interval=_WATCH_MS)
        self._second.timeout.connect(self.header.tell_time)
        self._watch.timeout.connect(self._tell_watched)
        self._second.start()
        self._watch.start()
        context.jobs.changed.connect(self._rows_changed)
        self.show_jobs([])

    def _lay_out(self) -> None:
        self._single = QWidget()
        column = QVBoxLayout(self._single)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.tabs, 1)
        self.tabs.style_tabs(_CLOSE_TABS)
        for part in (self.tabs, self.tabs.tabBar()):
            part.setAccessibleName("Views of the job")
        for pane in self.panes.values():
            self.tabs.addTab(pane, pane.title)
        self.empty.say(
            "activity",
            "Nothing selected",
            "Select a job to follow its story, read its logs and open its output. "
            "Several selected jobs are summed up here.",
        )
        self._stack = QStackedLayout(self)
        for page in (self.empty, self._single, self.multi_selection, self.outside):
            self._stack.addWidget(page)
        self.header.open.triggered.connect(lambda: self.opened.emit(self.ids[0], self.tab()))
        self.header.detach.triggered.connect(lambda: self.detach())
        self.view.parting.connect(lambda: self.detach("view"))
        self.view.back_wanted.connect(self._bring_view_back)
        self.tabs.tabBarClicked.connect(self._tab_clicked)

    def show_jobs(self, ids: list[str]) -> None:
        """Show these jobs: none, one, or many; another job with the tab that tells of one that stands so."""
        if ids and ids[0] in self.context.outside.jobs:
            self.show_jobs([])
            self.outside.show_job(ids[0])
            self._stack.setCurrentWidget(self.outside)
            return
        before, self.ids = self.ids, list(ids)
        one = self.ids[0] if len(self.ids) == 1 else None
        if one is not None and self.ids != before:
            first = self._first.tab(one, self.context.jobs.row(one))
            if first in self.panes:
                self.tabs.setCurrentWidget(self.panes[first])
        for pane in self.panes.values():
            pane.show_job(None if pane is self.view and self._window_of(one) is not None else one)
        if one is not None and self.view.job is None:
            self.view.say_elsewhere()
        if one is None:
            self._stack.setCurrentWidget(self.multi_selection if self.ids else self.empty)
        else:
            self._stack.setCurrentWidget(self._single)
            if self.ids != before:
                self._tell_watched()
        self._show_rows()

    def show_tab(self, name: str) -> None:
        """Bring a tab to the front: story, components, logs, output, console, view, where, use or text."""
        if name in self.panes:
            self._keep_tab(name)
            self.tabs.setCurrentWidget(self.panes[name])
            if name == "console":
                self.panes[name].setFocus()

    def _tab_clicked(self, index: int) -> None:
        clicked = self.tabs.widget(index)
        name = next((name for name, pane in self.panes.items() if pane is clicked), "")
        if name:
            self._keep_tab(name)

    def _keep_tab(self, name: str) -> None:
        job = self.ids[0] if len(self.ids) == 1 else ""
        self._first.keep(job, self.context.jobs.row(job) if job else None, name)

    def show_line(self, path: str, offset: int) -> None:
        """Show a file of the job in the logs, at the line that begins at `offset`."""
        self.show_tab("logs")
        self.logs.show_line(path, offset)

    def stand_for(self, name: str) -> None:
        """Show what another inspector of the job showed: the same tab, and a console with the input."""
        self.show_tab(name)
        if name in self.panes:
            _take_over(self.panes[name])

    def tab(self) -> str:
        """Return the name of the tab in front."""
        return next((name for name, pane in self.panes.items() if pane is self.tabs.currentWidget()), "")

    def detach(self, name: str = "") -> DetachedPane | None:
        """Tear a tab (the one in front if not named) off into a window of its own, which keeps its job."""
        name = name or self.tab()
        if len(self.ids) != 1 or name not in self.panes:
            return None
        if name == "view" and (there := self._window_of(self.ids[0])) is not None:
            there.activateWindow()
            return there
        window = DetachedPane(self.context, dict(PANES)[name](self.context), self.ids[0])
        self.detached.append(window)
        window.closed.connect(self._detached_closed)
        window.show()
        _take_over(window.pane)
        if name == "view":
            self.view.show_job(None)
            self.view.say_elsewhere()
            if (self.context.jobs.row(self.ids[0]) or {}).get("interactive"):
                self.tabs.setCurrentWidget(self.panes["console"])
        return window

    def _window_of(self, job: str | None) -> DetachedPane | None:
        """The window that has the view of a job."""
        found = (one for one in self.detached if one.job == job and isinstance(one.pane, ViewPane))
        return next(found, None)

    def _bring_view_back(self) -> None:
        window = self._window_of(self.ids[0] if len(self.ids) == 1 else None)
        if window is not None:
            window.close()

    def close_all(self) -> None:
        """The window goes away: panes give up what they hold, such as sessions with jobs."""
        for pane in [*self.panes.values(), *(window.pane for window in self.detached)]:
            pane.close_all()

    def _detached_closed(self, window: DetachedPane) -> None:
        if window in self.detached:
            self.detached.remove(window)
        if isinstance(window.pane, ViewPane) and self.ids == [window.job] and not self._window_of(window.job):
            self.view.show_job(window.job)
            self.tabs.setCurrentWidget(self.view)

    def _rows_changed(self, ids: set[str]) -> None:
        if not ids or not ids.isdisjoint(self.ids):
            self._show_rows()

    def _tell_watched(self) -> None:
        """Let the broker ask sooner after a job that waits at its site while it is in view."""
        row = self.context.jobs.row(self.ids[0]) if len(self.ids) == 1 else None
        if row is not None and row["state"] == JobState.SCHEDULED.value and self.isVisible():
            self.context.run(self.context.client.watch(self.ids), "telling what is looked at")

    def _show_rows(self) -> None:
        row = self.context.jobs.row(self.ids[0]) if len(self.ids) == 1 else None
        if row is not None:
            self.header.show_row(row)
            self._show_tabs_of(row)
        elif len(self.ids) > 1:
            self.multi_selection.show_jobs(self.ids)

    def _show_tabs_of(self, row: dict[str, Any]) -> None:
        """Tabs that only some jobs have."""
        has = {"console": bool(row.get("interactive")), "components": several(row)}
        for name, shown in has.items():
            self.tabs.setTabVisible(self.tabs.indexOf(self.panes[name]), shown)
        self.tabs.show_more()


def _take_over(pane: JobPane) -> None:
    """A console that was asked for elsewhere is meant to be typed at."""
    if isinstance(pane, ConsolePane):
        pane.setFocus()
        pane.take_over()
