"""The first view of a batch: its jobs over time, and its failures by their reason."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app import units
from app.inspector.batch.figures import course_of, failures_of
from app.inspector.batch.tables import REASON, FailuresTable
from app.stores.slices import breathe
from app.widgets.export import offer_export
from app.widgets.labels import label
from app.widgets.plots.deferred_plot import make_history_plot
from app.widgets.table import RowTable

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.batch.figures import BatchCourse
    from app.jobs.commands import JobCommands
    from app.widgets.plots.history_plot import HistoryPlot

_SERIES = (("running", "state-Running"), ("done", "state-Done"), ("failed", "state-Failed"))

_MOST_ROWS = 10
"""Rows of failures that are seen at once, at most."""


class OverviewPane(QWidget):
    """Progress as a plot; below it one row for each way in which jobs failed, to be shown or run again."""

    def __init__(self, context: AppContext, jobs: JobCommands) -> None:
        super().__init__()
        self._context, self._jobs = context, jobs
        self.plot: HistoryPlot | None = None
        self.before = label("Nothing has run yet.", "muted")
        self.none = label("No job failed.", "muted")
        self.failures = FailuresTable()
        self.view = RowTable(context.theme, "Failures by their reason")
        self.view.setModel(self.failures)
        offer_export(context, self.view, "failures by reason", "reason")
        self.view.widths(200, 88, 48, 104, stretched=REASON)
        self.show_these, self.rerun_these = QPushButton(), QPushButton()
        self._lay_out()
        self.view.chosen.connect(lambda _: self._offer())
        self.view.opened.connect(lambda _: self._show_jobs())
        self.show_these.clicked.connect(self._show_jobs)
        self.rerun_these.clicked.connect(lambda: self._jobs.rerun_those(list(self._chosen())))
        context.link.changed.connect(self._offer)

    def _lay_out(self) -> None:
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(16, 8, 16, 12)
        self._column.setSpacing(8)
        self._column.addWidget(label("Progress", "section"))
        self._column.addWidget(self.before)
        self._column.addWidget(label("Failures", "section"))
        self._column.addWidget(self.none)
        self._column.addWidget(self.view)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        for button in (self.show_these, self.rerun_these):
            foot.addWidget(button)
        foot.addStretch(1)
        self._column.addLayout(foot)
        self._column.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setWidget(inner)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)

    def _fit(self) -> None:
        """As high as its rows, of many as high as some; the page scrolls."""
        view, rows = self.view, min(_MOST_ROWS, max(2, len(self.failures.groups)))
        line, head = view.verticalHeader().defaultSectionSize(), view.horizontalHeader().sizeHint().height()
        view.setFixedHeight(head + rows * line + view.horizontalScrollBar().sizeHint().height() + 2)

    async def show_rows(self, numbers: Sequence[int], now: float) -> None:
        """Show the jobs of these rows of the store."""
        columns = self._context.jobs.columns
        course = await asyncio.to_thread(course_of, columns, numbers, now)
        self.failures.show_groups(await asyncio.to_thread(failures_of, columns, numbers))
        failed = bool(self.failures.groups)
        self.view.setVisible(failed)
        self._fit()
        self.none.setVisible(not failed)
        if failed and self.view.row() < 0:
            self.view.selectRow(0)
        self._offer()
        await self._show_course(course)

    async def _show_course(self, course: BatchCourse) -> None:
        several = len(course.times) > 1
        self.before.setVisible(not several)
        if several and self.plot is None:
            made = await make_history_plot(self._context.theme, _SERIES)
            if self.plot is None:
                self.plot = made
                self._column.insertWidget(1, made)
                await breathe()
        if self.plot is not None:
            self.plot.setVisible(several)
            self.plot.show_history(course.times, course.running, course.done, course.failed)

    def _chosen(self) -> tuple[str, ...]:
        row = self.view.row()
        return self.failures.groups[row].jobs if 0 <= row < len(self.failures.groups) else ()

    def _offer(self) -> None:
        jobs = self._chosen()
        number = units.count(len(jobs), "job")
        self.show_these.setText(f"Show {number} in the table")
        self.rerun_these.setText(f"Rerun {number}")
        for button in (self.show_these, self.rerun_these):
            button.setVisible(bool(jobs))
        self.rerun_these.setEnabled(self._context.link.up)

    def _show_jobs(self) -> None:
        if jobs := self._chosen():
            self._context.show_jobs(jobs)
