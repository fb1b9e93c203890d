"""The table of a batch's values against what became of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.batch.tables import ValuesTable
from app.jobs.columns import jobs_table
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton
from app.widgets.labels import label
from app.widgets.table import RowTable

if TYPE_CHECKING:
    from app.context import AppContext


class ValuesPane(QWidget):
    """One row for each job, ordered by any column; a row opens its job, and all can be exported."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._numbers: Sequence[int] = ()
        self.model = ValuesTable(context.jobs)
        self.view = RowTable(context.theme, "Values of the batch")
        self.view.setModel(self.model)
        self.view.widths(120, 140, 96, 72, 88, 72, 104, 200, stretched=len(ValuesTable.SHOWN) - 1)
        self.view.setSortingEnabled(False)
        header = self.view.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(lambda *_: self._arrange_later())
        self.export = ExportButton(context, "the batch", "job", self._gather)
        head = QHBoxLayout()
        head.addWidget(label("Each value with what became of it", "muted", fluid=True), 1)
        head.addWidget(self.export)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        self.view.opened.connect(lambda row: context.show_job(self.model.job_at(row)))

    async def show_rows(self, numbers: Sequence[int]) -> None:
        """Show the jobs of these rows of the store."""
        self._numbers = numbers
        header = self.view.horizontalHeader()
        descending = header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        await self.model.arrange(numbers, header.sortIndicatorSection(), descending)

    def _arrange_later(self) -> None:
        self._context.run(self.show_rows(self._numbers), "ordering the values")

    async def _gather(self) -> Written:
        return jobs_table(self._context.jobs.columns, self.model.order, time.time())
