"""The statistics view (CB-UI-13)."""

from __future__ import annotations

import datetime
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.context import Notice, Tone
from app.statistics.usage import HOUR, Usage, usage_of
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton, as_shown, offer_export
from app.widgets.labels import label
from app.widgets.list_state import ListState, explain_error, explain_link
from broker_core.client.printable import printable
from broker_core.errors import CrossDeskError
from broker_core.jobs.outcome import Outcome

if TYPE_CHECKING:
    from app.context import AppContext
    from app.statistics.plots import StatisticsPlots
    from broker_core.wire.views import Statistics


STAGES = ("submitted", "accepted", "matched", "run", "completed", "cleared")
_REASONS = 10
"""Reasons of failures that are listed, the most frequent first."""
_WIDTH = 1040
"""Pixels; wider charts are harder to read, not easier."""


class StageTable(QTableWidget):
    """Rows are stages; for all jobs and for each kind a count and its share in percent."""

    def __init__(self) -> None:
        super().__init__(len(STAGES), 2)
        self.setAccessibleName("Jobs by stage")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setShowGrid(False)
        self.setVerticalLabels()
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumWidth(112)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight)
        self.horizontalHeader().setSectionsClickable(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def setVerticalLabels(self) -> None:
        """Name the stages."""
        self.setVerticalHeaderLabels([stage.capitalize() for stage in STAGES])
        self.verticalHeaderItem(STAGES.index("completed")).setToolTip(
            "Ran to their end, whatever their exit code; those that failed are told below"
        )

    def show_statistics(self, numbers: Statistics) -> None:
        """Fill in counts and shares."""
        totals = {stage: sum(getattr(kind, stage) for kind in numbers.kinds.values()) for stage in STAGES}
        columns = [("All jobs", totals)]
        columns += [
            (name, {stage: getattr(kind, stage) for stage in STAGES}) for name, kind in numbers.kinds.items()
        ]
        self.setColumnCount(2 * len(columns))
        titles = [title for name, _ in columns for title in (name, "%")]
        self.setHorizontalHeaderLabels(titles)
        for place, (_, counts) in enumerate(columns):
            for row, stage in enumerate(STAGES):
                self._put(row, 2 * place, f"{counts[stage]:,}")
                self._put(row, 2 * place + 1, _share(counts[stage], counts["submitted"]))
            for column, least in ((2 * place, 128), (2 * place + 1, 64)):
                head = self.horizontalHeader().sectionSizeHint(column)
                self.setColumnWidth(column, max(least, head, self.sizeHintForColumn(column) + 12))
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + 28 * len(STAGES) + 14)

    def _put(self, row: int, column: int, text: str) -> None:
        item = QTableWidgetItem(text)
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setItem(row, column, item)


class FactsTable(QTableWidget):
    """Names with numbers beside them, as high as its rows; none is chosen or changed."""

    def __init__(self, name: str, *titles: str) -> None:
        super().__init__(0, len(titles))
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels(titles)
        first = QTableWidgetItem(titles[0])
        first.setTextAlignment(Qt.AlignmentFlag.AlignLeft)
        self.setHorizontalHeaderItem(0, first)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight)

    def show_rows(self, rows: list[tuple[str, ...]]) -> None:
        """Show these rows."""
        self.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip("" if column else text)
                self.setItem(row, column, item)
        self.setVisible(bool(rows))
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + self.verticalHeader().length() + 4)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def ends_sentence(numbers: Statistics) -> str:
    """Say how the jobs stand: how many are done, failed, canceled, or go on."""
    counts = [f"{numbers.outcomes[one]:,} {one.lower()}" for one in Outcome if numbers.outcomes.get(one)]
    return f"Of these jobs: {', '.join(counts)}." if counts else ""


class StatisticsPane(QWidget):
    """Counters and charts; asked for when it comes into sight and on demand."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.numbers: Statistics | None = None
        self._error = ""
        self.state, self.table = ListState(context.theme), StageTable()
        self.ends, self.used = label(role="muted", wrap=True), label(role="strong", wrap=True)
        self.sites = FactsTable("Use by site", "Site", "Jobs", "Failed", "CPU hours, all runs")
        self.reasons = FactsTable("Failures by reason", "Why jobs failed", "Jobs")
        self.export = ExportButton(context, "jobs by stage", "stage", self._stages)
        offer_export(context, self.table, "jobs by stage", "stage")
        offer_export(context, self.sites, "use by site", "site")
        offer_export(context, self.reasons, "failures by reason", "reason")
        self.usage = Usage()
        self._plots: StatisticsPlots | None = None
        self._area = QScrollArea(widgetResizable=True)
        self._area.setAccessibleName("Statistics")
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        self._inner = QVBoxLayout(inner)
        self._inner.setContentsMargins(16, 12, 16, 16)
        self._inner.setSpacing(12)
        self._inner.addLayout(self._head())
        self._inner.addWidget(self.table)
        self._inner.addWidget(self.ends)
        self._inner.addWidget(self.used)
        self._inner.addWidget(self.sites)
        self._inner.addWidget(self.reasons)
        self._inner.addStretch(1)
        self._area.setWidget(inner)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.state)
        column.addWidget(self._area)
        context.link.changed.connect(self._linked)
        context.theme.changed.connect(self._show)
        self._show()

    def _head(self) -> QHBoxLayout:
        line, title = QHBoxLayout(), QLabel("Jobs by stage")
        title.setProperty("role", "title")
        again = QPushButton("Refresh")
        again.clicked.connect(self.look)
        line.addWidget(title)
        line.addStretch(1)
        line.addWidget(self.export)
        line.addWidget(again)
        return line

    async def _stages(self) -> Written:
        return as_shown(self.table)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for fresh numbers."""
        super().showEvent(event)
        self.look()

    def _linked(self) -> None:
        if self._context.link.up and self.isVisible():
            self.look()
        self._show()

    def look(self) -> None:
        """Ask the broker for its numbers."""
        if self._context.link.up:
            self._context.run(self._look(), "asking for the statistics")
            self._context.run(self._count(), "adding up what jobs used")

    async def _look(self) -> None:
        try:
            numbers = await self._context.client.statistics()
        except CrossDeskError as error:
            self.show_error(error)
            return
        self.numbers, self._error = numbers, ""
        self._show()

    async def _count(self) -> None:
        self.usage = await usage_of(self._context.jobs, time.time())
        self._show()

    def _show_usage(self) -> None:
        hours = f"{self.usage.cpu_hours:,.2f} CPU hours"
        self.used.setText(f"{hours} used by all runs of jobs that are still listed")
        by_use = sorted(self.usage.sites.items(), key=lambda pair: -pair[1].cpu_seconds)
        self.sites.show_rows(
            [
                (name, f"{one.jobs:,}", f"{one.failed:,}", f"{one.cpu_seconds / HOUR:,.2f}")
                for name, one in by_use
            ]
        )
        most = self.usage.reasons.most_common(_REASONS)
        self.reasons.show_rows([(printable(reason), f"{number:,}") for reason, number in most])

    def show_error(self, error: CrossDeskError) -> None:
        """Show why there are no numbers; numbers that are already there stay."""
        self._error = str(error)
        if self.numbers is not None:
            self._context.notify(Notice(f"The statistics could not be read: {error}", Tone.BAD))
        self._show()

    def _show(self) -> None:
        numbers = self.numbers
        some = numbers is not None and any(kind.submitted for kind in numbers.kinds.values())
        self.state.setVisible(not some)
        self._area.setVisible(some)
        self._area.setEnabled(self._context.link.up)
        if numbers is not None and some:
            self.table.show_statistics(numbers)
            self.ends.setText(ends_sentence(numbers))
            self._show_usage()
            self._show_plots(numbers)
        else:
            self._explain()

    def _show_plots(self, numbers: Statistics) -> None:
        if self._plots is None:
            from app.statistics.plots import StatisticsPlots

            self._plots = StatisticsPlots(self._context.theme)
            self._inner.insertWidget(6, self._plots)
        self._plots.show_statistics(numbers)
        self._plots.show_use(self.usage.last_days(datetime.date.today()))

    def _explain(self) -> None:
        if not self._context.link.up:
            explain_link(self.state, self._context)
        elif self._error:
            explain_error(self.state, "The statistics", self._error, self.look)
        elif self.numbers is None:
            self.state.show_state("loader-circle", "Counting", "The broker adds up your jobs.")
        else:
            self.state.show_state(
                "chart-column", "Nothing to count yet",
                "Once you have submitted jobs, this page shows how far they came, how large they were and "
                "how long they waited.", ("Run a sample…", lambda: self._context.trigger("file.sample")),
            )  # fmt: skip
