"""The page that compares two to five jobs: overview, description, logs and output, a column for each job."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.inspector.compare.compared_job import ComparedJob, titles
from app.inspector.compare.fact_table import FactTable, names_width
from app.inspector.compare.facts import facts
from app.inspector.compare.outputs import ComparedOutputs
from app.inspector.compare.published import ComparedCurves
from app.inspector.compare.texts import ComparedDescriptions, ComparedLogs
from app.stores.refresh import Refresh
from app.widgets.export import offer_export
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.list_state import ListState, explain_link
from app.widgets.state_glyph import StateGlyph
from app.widgets.tool_button import tool_button
from broker_core.errors import CrossDeskError, NotFound

if TYPE_CHECKING:
    from app.context import AppContext


_LEAST = 128
"""Pixels of a column without which its button is left out."""


class JobHeads(QWidget):
    """The names of the jobs above their columns, each with its state and the way to the job itself."""

    def __init__(self, context: AppContext, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._cells: list[tuple[StateGlyph, QLabel, QToolButton]] = []
        self._ids: Sequence[str] = ()
        self._followed: tuple[QWidget, bool] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._line = QHBoxLayout(self)
        self._line.setSpacing(0)
        for column in range(number):
            cell, glyph = QHBoxLayout(), StateGlyph(context.theme)
            name = label(role="strong", fluid=True)
            show = tool_button(context.theme.icon("crosshair", "muted"), "Show this job in the table")
            show.clicked.connect(lambda _=False, column=column: self._show_job(column))
            cell.setContentsMargins(8, 0, 4, 0)
            cell.setSpacing(6)
            cell.addWidget(glyph)
            cell.addWidget(name, 1)
            cell.addWidget(show)
            self._line.addLayout(cell, 1)
            self._cells.append((glyph, name, show))
        context.theme.changed.connect(self._fit)

    def show_jobs(self, jobs: Sequence[ComparedJob]) -> None:
        """Name these jobs, as many as there are columns."""
        self._ids = [job.id for job in jobs]
        for job, name, (glyph, text, show) in zip(jobs, titles(jobs), self._cells, strict=True):
            if job.row:
                glyph.show_row(job.row)
            text.setText(name)
            text.setToolTip(f"{name}\n{job.id}")
            show.setAccessibleName(f"Show {name} in the table")

    def follow(self, viewport: QWidget, *, named: bool) -> None:
        """Stand above the columns of a viewport; `named`: they begin behind one with names of facts."""
        if self._followed is not None:
            self._followed[0].removeEventFilter(self)
        self._followed = (viewport, named)
        viewport.installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The viewport may have given room to a scroll bar."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._fit()
        return False

    def _fit(self) -> None:
        if self._followed is not None:
            viewport, named = self._followed
            indent = names_width(self._context.theme) if named else 0
            right = max(0, self.width() - viewport.width()) if viewport.isVisible() else 0
            self._line.setContentsMargins(indent, 4, right, 4)
            wide = self.width() - indent - right >= _LEAST * len(self._cells)
            for _, _, show in self._cells:
                show.setVisible(wide)

    def _show_job(self, column: int) -> None:
        self._context.show_job(self._ids[column])


class ComparePage(QWidget):
    """Follows its jobs: rows as they change, texts and files when a job has changed its state."""

    def __init__(self, context: AppContext, ids: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.ids = list(ids)
        self.jobs: list[ComparedJob] = []
        self._states: list[str] = []
        self._stale_pages: set[QWidget] = set()
        self._refresh, self._stale = Refresh(), False
        self.setProperty("role", "surface")
        self.tabs, self.only = QTabBar(), QCheckBox("Only differences")
        self.heads, self.gone = JobHeads(context, len(self.ids)), label(role="negative", wrap=True)
        self.overview = FactTable(context.theme, "Facts of the jobs")
        offer_export(context, self.overview, "facts", "fact")
        self.descriptions, self.logs = ComparedDescriptions(context), ComparedLogs(context)
        self.outputs, self.state = ComparedOutputs(context), ListState(context.theme)
        self.curves = ComparedCurves(context)
        self._pages = QStackedWidget()
        self._lay_out()
        self.tabs.currentChanged.connect(self._turn_to)
        self.only.toggled.connect(self._set_only)
        context.jobs.changed.connect(self._rows_changed)
        context.link.changed.connect(self._link_changed)
        self.reload()

    def _lay_out(self) -> None:
        bar = FlowLayout(spacing=16, below=0)
        bar.setContentsMargins(4, 4, 12, 0)
        bar.addWidget(self.tabs)
        bar.addWidget(self.only)
        self.tabs.setAccessibleName("What to compare")
        self.tabs.setExpanding(False)
        for title, page in (
            ("Overview", self.overview),
            ("Description", self.descriptions),
            ("Logs", self.logs),
            ("Output", self.outputs),
            ("Curves", self.curves),
        ):
            self.tabs.addTab(title)
            self._pages.addWidget(page)
        self.gone.setContentsMargins(12, 4, 12, 4)
        self.gone.hide()
        self._content = QWidget()
        inside = QVBoxLayout(self._content)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addLayout(bar)
        inside.addWidget(self.gone)
        inside.addWidget(self.heads)
        inside.addWidget(self._pages, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._content)
        column.addWidget(self.state)
        self._content.hide()
        self.state.show_state(
            "loader-circle", "Reading the jobs", "Their descriptions and use are asked for."
        )

    def show_tab(self, name: str) -> None:
        """Bring a view to the front: overview, description, logs, output or curves."""
        names = [self.tabs.tabText(number).lower() for number in range(self.tabs.count())]
        self.tabs.setCurrentIndex(names.index(name))

    def reload(self) -> None:
        """Ask for the jobs again."""
        if self._refresh.begin():
            self._context.run(self._ask(), "reading the jobs to compare")

    def close_all(self) -> None:
        """The page goes away: nothing is asked any more."""
        self.ids = []
        for page in (self.descriptions, self.logs, self.outputs, self.curves):
            page.close_all()

    async def _ask(self) -> None:
        try:
            jobs = list(await asyncio.gather(*map(self._job, self.ids)))
        finally:
            again = self._refresh.end()
        if not self.ids:
            return
        if again:
            QTimer.singleShot(0, self, self.reload)
        self.jobs = jobs
        self._show()

    async def _job(self, job: str) -> ComparedJob:
        before = next((one for one in self.jobs if one.id == job), None)
        row = self._context.jobs.row(job) or (before.row if before is not None else {})
        known, name = before.detail if before is not None else None, str(row.get("name") or job)
        try:
            detail = await self._context.client.job(job)
        except NotFound:
            return ComparedJob(job, row, known, f"{name} was removed with its files.")
        except CrossDeskError as error:
            return ComparedJob(job, row, known, f"{name}: {error}")
        return ComparedJob(job, row or detail.row, detail)

    def _show(self) -> None:
        self.heads.show_jobs(self.jobs)
        self.overview.show_facts(facts(self.jobs), titles(self.jobs))
        problems = [job.problem for job in self.jobs if job.problem]
        self.gone.setText(" ".join(problems))
        self.gone.setVisible(bool(problems))
        self._content.show()
        self.state.hide()
        states = [f"{job.row.get('state')} {job.problem} {job.detail is None}" for job in self.jobs]
        if states != self._states:
            self._states = states
            self._stale_pages = {self.descriptions, self.logs, self.outputs, self.curves}
        self._turn_to()

    def _turn_to(self) -> None:
        pages = (self.overview, self.descriptions, self.logs, self.outputs, self.curves)
        page = pages[self.tabs.currentIndex()]
        self._pages.setCurrentWidget(page)
        # All curves share one plot, which has no columns and nothing to leave out.
        for part in (self.heads, self.only):
            part.setVisible(page is not self.curves)
        if not isinstance(page, FactTable) and page in self._stale_pages:
            self._stale_pages.discard(page)
            page.show_jobs(self.jobs)
        if isinstance(page, FactTable):
            self.heads.follow(page.viewport(), named=True)
        elif isinstance(page, ComparedOutputs):
            self.heads.follow(page.table.viewport(), named=True)
        elif not isinstance(page, ComparedCurves):
            self.heads.follow(page.view.viewport(), named=False)

    def _set_only(self, on: bool) -> None:
        for page in (self.overview, self.descriptions, self.logs, self.outputs):
            page.set_only_differences(on)

    def _rows_changed(self, ids: set[str]) -> None:
        if self.ids and (not ids or not ids.isdisjoint(self.ids)):
            if self.isVisible():
                self.reload()
            else:
                self._stale = True

    def _link_changed(self) -> None:
        if self.ids and not self.jobs and not self._context.link.up:
            explain_link(self.state, self._context)
        elif self.ids and self._context.link.up:
            self.reload()

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for what changed while another page was in front."""
        super().showEvent(event)
        if self._stale:
            self._stale = False
            self.reload()
