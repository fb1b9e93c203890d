"""The page of a batch: how far it is, what can be done, and views of its jobs as tabs."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, cast

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
from app.stores.alike import alike
from app.stores.slices import breathe, parts
from app.widgets.labels import label
from app.widgets.list_state import ListState
from app.widgets.state_glyph import StateGlyph

if TYPE_CHECKING:
    from app.context import AppContext

_PAUSE_MS = 400
"""Between two looks at a batch that changes."""

_ELSEWHERE = ("job.open_batch", "job.resubmit", "job.purge")
"""What is done to a batch from the table; here it is looked at and brought to its end."""


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
        self.overview, self.values = OverviewPane(context, self.jobs), ValuesPane(context)
        self.plot, self.logs = PlotPane(context), LogsBeside(context)
        self.outputs = OutputsPane(context, self.jobs)
        self.gone = ListState(context.theme)
        self._lay_out()
        self.values.selected.connect(self.logs.show_jobs)
        self.tabs.currentChanged.connect(lambda _: self.refresh())
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
        for pane, title in (
            (self.overview, "Overview"), (self.values, "Values"), (self.plot, "Plot"), (self.logs, "Logs"),
            (self.outputs, "Output"),
        ):  # fmt: skip
            self.tabs.addTab(pane, title)
        self.tabs.setUsesScrollButtons(True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        for part in (self._head, self.tabs, self.gone):
            whole.addWidget(part, 0 if part is self._head else 1)
        self.gone.hide()

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
            numbers += (at for at in part if rows.counts(at))
            await breathe()
        self.numbers, self.ids = numbers, [rows.columns["id"][at] for at in numbers]
        await self._book.ready([self.batch])
        self._show_head(now)
        await breathe()
        if numbers:
            await self._show_front(numbers, now)

    async def _show_front(self, numbers: list[int], now: float) -> None:
        """Only what is looked at is brought up to date."""
        front = self.tabs.currentWidget()
        if front is self.overview:
            await self.overview.show_rows(numbers, now)
        for pane in (self.values, self.plot, self.outputs):
            if front is pane:
                await pane.show_rows(numbers)

    def _show_head(self, now: float) -> None:
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
        totals, unheard = self._book.totals(self.batch), self.context.sites.unheard
        counted = totals.tally(unheard)
        self.title.setText(f"{totals.name}  ·  {units.count(len(totals), 'job')}")
        self.named.emit(totals.name)
        self.summary.setText(progress(totals, counted, now))
        self.glyph.show_style(style_of_batch(counted))
        self.offers.show_jobs(alike(self.context.jobs, self.ids, unheard))

    def close_all(self) -> None:
        """The tab goes away: look no more."""
        self._later.stop()
        self.context.jobs.changed.disconnect(self._changed)
        self.logs.close_all()
