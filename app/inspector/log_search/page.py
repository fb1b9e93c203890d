"""The page that searches in the logs of the jobs of a query, or of those selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.inspector.log_search.found_lines import TEXT, FoundLine, FoundLines, found_lines
from app.stores.slices import breathe
from app.widgets.export import offer_export
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.list_state import ListState
from app.widgets.table import RowTable
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.log_search import SearchedLog

MOST_JOBS, MOST_HITS, MOST_IN_LOG = 10_000, 5000, 10
"""Jobs that are searched, hits that are listed in all, and of each log."""
_ROWS = 200
"""Rows that are put into the table at once."""
_ROLES = (("Output and errors", ("stdout", "stderr")), ("Output", ("stdout",)), ("Errors", ("stderr",)))
Ids = Callable[[], Sequence[str]]
"""Gives ids of jobs."""


class LogSearchPage(QWidget):
    """What to look for, how far the search is, and the lines found; a line leads to the log."""

    def __init__(
        self, context: AppContext, of_query: Ids, selected: Ids, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self._of_query, self._selected = context, of_query, selected
        self._turn = 0
        self.hits = 0
        self.running = False
        self.setProperty("role", "surface")
        self.text, self.regex = QLineEdit(), QCheckBox("Regular expression")
        self.logs, self.scope = QComboBox(), QComboBox()
        self.button, self.progress = QPushButton("Search"), QProgressBar()
        self.summary, self.state = label(role="small", wrap=True), ListState(context.theme)
        self.found = FoundLines(context.jobs.row, self)
        self.table = RowTable(context.theme, "Lines found")
        offer_export(context, self.table, "lines found", "line")
        self._pages = QStackedWidget()
        self._lay_out()
        self.text.returnPressed.connect(self.search)
        self.button.clicked.connect(lambda: self.stop() if self.running else self.search())
        self.table.chosen.connect(self._show_log)
        self.table.clicked.connect(lambda index: self._show_log(index.row()))
        self._say_nothing_searched()

    def _lay_out(self) -> None:
        self.text.setPlaceholderText("Search in logs, e.g. out of memory")
        self.text.setAccessibleName("Search in logs")
        self.text.setClearButtonEnabled(True)
        for title, roles in _ROLES:
            self.logs.addItem(title, roles)
        self.logs.setAccessibleName("Which logs")
        self.scope.addItem("Jobs of the query", self._of_query)
        self.scope.addItem("Selected jobs", self._selected)
        self.scope.setAccessibleName("Of which jobs")
        self.button.setProperty("kind", "primary")
        self.progress.setAccessibleName("How far the search is")
        self.progress.setTextVisible(False)
        self.progress.hide()
        choices = FlowLayout()
        for part in (self.scope, self.logs, self.regex, self.button):
            choices.addWidget(part)
        self.table.setModel(self.found)
        self.table.widths(136, 68, 60, 120, stretched=TEXT)
        self.table.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self._pages.addWidget(self.state)
        self._pages.addWidget(self.table)
        head = QVBoxLayout()
        head.setContentsMargins(12, 12, 12, 8)
        head.setSpacing(8)
        for row in (self.text, choices, self.progress, self.summary):
            head.addWidget(row) if isinstance(row, QWidget) else head.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._pages, 1)
        self.setFocusProxy(self.text)

    def choose_scope(self, selected: bool) -> None:
        """Search in the selected jobs, or in those of the query."""
        self.scope.setCurrentIndex(int(selected))

    # --- searching

    def search(self) -> None:
        """Search anew; a search under way ends."""
        text = self.text.text()
        if not text:
            self._say_nothing_searched()
            return
        ids = list(islice(self.scope.currentData()(), MOST_JOBS + 1))
        self._turn += 1
        self.found.clear()
        self.hits, self.running = 0, True
        self.button.setText("Stop")
        self.progress.setRange(0, max(1, min(len(ids), MOST_JOBS)))
        self.progress.setValue(0)
        self.progress.show()
        self.state.show_state("search", "Searching", "Lines appear here as they are found.")
        self._pages.setCurrentWidget(self.state)
        self._context.run(self._search(self._turn, text, ids), "searching in logs")

    def stop(self) -> None:
        """End the search; what was found stays."""
        self._turn += 1
        self._ended("Stopped. " + self.summary.text())

    def close_all(self) -> None:
        """The page goes away."""
        self._turn += 1
        self.running = False

    async def _search(self, turn: int, text: str, ids: list[str]) -> None:
        from broker_core.wire.log_search import LogSearch

        total = min(len(ids), MOST_JOBS)
        wanted = LogSearch(
            ids=ids[:1] or ["-"], text=text, regex=self.regex.isChecked(),
            roles=list(self.logs.currentData()), most=MOST_IN_LOG,
        )  # fmt: skip
        self._tell(0, total)
        try:
            async with aclosing(self._context.client.search_all_logs(wanted, ids[:MOST_JOBS])) as steps:
                async for step in steps:
                    for log in step.logs:
                        await self._add(turn, log)
                    if turn != self._turn:
                        return
                    self._tell(step.searched, total)
                    if self.hits >= MOST_HITS:
                        self._ended(f"Stopped at {self.hits:,} hits. {self.summary.text()}")
                        return
        except CrossDeskError as error:
            if turn == self._turn:
                self._failed(error)
            return
        if turn == self._turn:
            limited = f" Only the first {MOST_JOBS:,} jobs were searched." if len(ids) > MOST_JOBS else ""
            self._ended(self.summary.text() + limited)

    async def _add(self, turn: int, log: SearchedLog) -> None:
        rows: list[FoundLine] = list(found_lines(log))
        for start in range(0, len(rows), _ROWS):
            if turn != self._turn:
                return
            self.found.add(rows[start : start + _ROWS])
            await breathe()
        if turn == self._turn:
            self.hits += len(log.hits)
            if self.found.rows:
                self._pages.setCurrentWidget(self.table)

    def _tell(self, searched: int, total: int) -> None:
        self.progress.setValue(searched)
        jobs = units.count(total, "job")
        far = f"{searched:,} of {jobs} searched" if searched < total else f"{jobs} searched"
        self.summary.setText(f"{units.count(self.hits, 'hit')} · {far}.")

    def _ended(self, summary: str) -> None:
        self.running = False
        self.button.setText("Search")
        self.progress.hide()
        self.summary.setText(summary)
        if not self.found.rows:
            self.state.show_state(
                "search", "Nothing found", "No log of these jobs has this. Logs of jobs that run may yet."
            )

    def _failed(self, error: CrossDeskError) -> None:
        self._ended("")
        if self.found.rows:
            self.summary.setText(f"Ended early: {error}")
        else:
            self.state.show_state(
                "circle-alert", "The search ended early", str(error), ("Search again", self.search), None,
                "negative",
            )  # fmt: skip

    def _say_nothing_searched(self) -> None:
        self.state.show_state(
            "search", "Search in the logs of many jobs",
            "In all jobs that the query of the table has, or in those selected. Case does not matter. "
            f"Of each log, {MOST_IN_LOG} hits are listed.",
        )  # fmt: skip
        self._pages.setCurrentWidget(self.state)

    # --- what was found

    def _show_log(self, number: int) -> None:
        if 0 <= number < len(self.found.rows):
            row = self.found.rows[number]
            self._context.show_log(row.job, row.path, row.offset)
