"""The page of a batch: how far it is, what can be done, and views of its jobs as tabs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from app import units
from app.actions.handlers import WindowHandlers
from app.actions.table import BY_ID
from app.inspector.batch.member_files import LogsBeside, OutputsPane
from app.inspector.batch.overview import OverviewPane
from app.inspector.batch.plot import PlotPane
from app.inspector.batch.tables import ValuesPane
from app.inspector.header import JobActions
from app.jobs.batch_cells import progress
from app.jobs.batch_totals import BatchBook
from app.jobs.commands import JobCommands
from app.jobs.folding import style_of_batch
from app.stores.alike import Alike, alike_in_slices
from app.stores.slices import breathe, parts
from app.widgets.labels import label
from app.widgets.list_state import ListState
from app.widgets.state_glyph import StateGlyph
from broker_core.jobs.outcome import Outcome, outcome_of

if TYPE_CHECKING:
    from app.context import AppContext

_PAUSE_MS = 400
"""Between two looks at a batch that changes."""

_ELSEWHERE = ("job.open_batch", "job.resubmit", "job.purge")
"""What is done to a batch from the table; here it is looked at and brought to its end."""


P = TypeVar("P", bound=QWidget)


class LateTab(Generic[P]):
    """A tab whose pane is made when it is first asked for: all at once would hold the window up."""

    def __init__(self, make: Callable[[], P]) -> None:
        self.widget = QWidget()
        """What stands in the row of tabs."""
        self.made: P | None = None
        """The pane, if there was need of it."""
        self._make = make

    @property
    def pane(self) -> P:
        """The pane, which is made if it is not there."""
        if self.made is None:
            self.made = self._make()
            column = QVBoxLayout(self.widget)
            column.setContentsMargins(0, 0, 0, 0)
            column.addWidget(self.made)
        return self.made


class BatchPage(QWidget):
    """All about one batch; of a job that was run again, the last run."""

    named = Signal(str)
    """The name of the batch, for the tab."""

    def __init__(self, context: AppContext, batch: str) -> None:
        super().__init__()
        self.context, self.batch = context, batch
        self.numbers: list[int] = []
        """Row numbers of its jobs."""
        self.ids: list[str] = []
        """Ids of its jobs."""
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.jobs = JobCommands(context, self, lambda: self.ids)
        self._book = BatchBook(context.jobs)
        self._looking: asyncio.Future[None] | None = None
        self.title, self.summary = label(role="title", fluid=True), label(role="muted", wrap=True)
        self.glyph = StateGlyph(context.theme)
        self.offers = JobActions(context, act=self._act, without=_ELSEWHERE)
        self.tabs = QTabWidget()
        self._chosen: list[str] = []
        self.overview = LateTab(lambda: OverviewPane(context, self.jobs))
        self.values, self.plot = LateTab(self._make_values), LateTab(lambda: PlotPane(context))
        self.logs, self.outputs = LateTab(self._make_logs), LateTab(lambda: OutputsPane(context, self.jobs))
        self.gone = ListState(context.theme)
        self._lay_out()
        self.tabs.currentChanged.connect(lambda _: self._turn())
        self._later = QTimer(self, interval=_PAUSE_MS, singleShot=True)
        self._later.timeout.connect(self.refresh)
        context.jobs.changed.connect(self._changed)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.glyph)
        head.addWidget(self.title, 1)
        self._head = QWidget()
        column = QVBoxLayout(self._head)
        column.setContentsMargins(16, 12, 16, 8)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.summary)
        column.addSpacing(4)
        column.addWidget(self.offers)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setExpanding(False)
        self.tabs.tabBar().setAccessibleName("Views of the batch")
        for tab, title in zip(self._tabs(), ("Overview", "Values", "Plot", "Logs", "Output"), strict=True):
            self.tabs.addTab(tab.widget, title)
        self.tabs.setUsesScrollButtons(True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        for part in (self._head, self.tabs, self.gone):
            whole.addWidget(part, 0 if part is self._head else 1)
        self.gone.hide()

    def _tabs(self) -> tuple[LateTab[QWidget], ...]:
        tabs = (self.overview, self.values, self.plot, self.logs, self.outputs)
        return cast("tuple[LateTab[QWidget], ...]", tabs)

    def _make_values(self) -> ValuesPane:
        values = ValuesPane(self.context)
        values.selected.connect(self._choose)
        return values

    def _make_logs(self) -> LogsBeside:
        logs = LogsBeside(self.context)
        logs.show_jobs(self._chosen or self._telling())
        return logs

    def _telling(self) -> list[str]:
        """The first job that failed, and the first one done to compare it with."""
        rows = self.context.jobs
        state, code = rows.columns["state"], rows.columns["exit_code"]
        first: dict[Outcome, str] = {}
        for job in self.ids:
            if (at := rows.at.get(job)) is not None:
                first.setdefault(outcome_of(state[at], code[at]), job)
        return [first[one] for one in (Outcome.FAILED, Outcome.DONE) if one in first]

    def _choose(self, jobs: list[str]) -> None:
        """The logs of these jobs are wanted; they are read once somebody looks at them."""
        self._chosen = jobs
        if self.logs.made is not None:
            self.logs.made.show_jobs(jobs)

    def _front(self) -> QWidget:
        """The pane that is looked at."""
        return self._tabs()[self.tabs.currentIndex()].pane

    def _turn(self) -> None:
        self._front()
        self.refresh()

    def _act(self, action: str) -> None:
        """Do an action of the table with the jobs of this batch, whatever is selected elsewhere."""
        BY_ID[action].do(cast("WindowHandlers", self))

    def _changed(self, ids: set[str]) -> None:
        rows = self.context.jobs
        if not ids:
            self._book.clear()
        batches = rows.columns["batch"]
        if not ids or any(job not in rows.at or batches[rows.at[job]] == self.batch for job in ids):
            self._book.take(ids)
            if not self._later.isActive():
                self._later.start()

    def refresh(self) -> None:
        """Show the batch as it is now."""
        if self._looking is None or self._looking.done():
            self._looking = self.context.run(self._show_all(), "summing up the batch")
        else:
            self._later.start()

    async def _show_all(self) -> None:
        rows, now = self.context.jobs, time.time()
        numbers: list[int] = []
        for part in parts(rows.of_batch.get(self.batch, ())):
            numbers += rows.counting(part)
            await breathe()
        self.numbers, self.ids = numbers, [rows.columns["id"][at] for at in numbers]
        await self._book.ready([self.batch])
        self._show_head(now, await alike_in_slices(rows, self.ids, self.context.sites.unheard))
        await breathe()
        if numbers:
            await self._show_front(numbers, now)

    async def _show_front(self, numbers: list[int], now: float) -> None:
        """Only what is looked at is brought up to date."""
        front = self._front()
        await breathe()
        if isinstance(front, OverviewPane):
            await front.show_rows(numbers, now)
        elif isinstance(front, ValuesPane | PlotPane | OutputsPane):
            await front.show_rows(numbers)

    def _show_head(self, now: float, kinds: list[Alike]) -> None:
        for part in (self._head, self.tabs):
            part.setVisible(bool(self.numbers))
        self.gone.setVisible(not self.numbers)
        if not self.numbers:
            self.gone.show_state(
                "inbox",
                "No jobs of this batch are left",
                "They were removed, or are not read from the broker yet.",
            )
            return
        totals = self._book.totals(self.batch)
        counted = totals.tally(self.context.sites.unheard)
        self.title.setText(f"{totals.name}  ·  {units.count(len(totals), 'job')}")
        self.named.emit(totals.name)
        self.summary.setText(progress(totals, counted, now))
        self.glyph.show_style(style_of_batch(counted))
        self.offers.show_jobs(kinds, self.batch)

    def close_all(self) -> None:
        """The tab goes away: look no more."""
        self._later.stop()
        self.context.jobs.changed.disconnect(self._changed)
        if self.logs.made is not None:
            self.logs.made.close_all()
