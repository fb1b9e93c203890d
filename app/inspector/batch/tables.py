"""The two tables of a batch's page: why jobs failed, and each value with what became of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.inspector.batch.figures import FailureGroup, value_order
from app.jobs.columns import BY_NAME, COLUMNS, jobs_table, style_of_number
from app.stores.slices import breathe, in_order, parts
from app.widgets.cells import FONT, GLYPH, TONE
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton
from app.widgets.labels import label
from app.widgets.table import LEFT, NOWHERE, RIGHT, Index, RowTable, TitledModel

if TYPE_CHECKING:
    from app.context import AppContext
    from app.stores.jobs import JobStore

_FEW = 8
"""Selected jobs that are told, at most."""
_DISPLAY = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
REASON, CAUSE, JOBS, SITES = range(4)


class FailuresTable(TitledModel):
    """One row for each way in which jobs failed."""

    TITLES = ("Reason", "Ended with", "Jobs", "Site")
    NUMBERS = frozenset({JOBS})

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[FailureGroup] = []

    def show_groups(self, groups: list[FailureGroup]) -> None:
        """Show these; the same number of rows is painted in place, so that the selection stays."""
        same = [group[:2] for group in groups] == [group[:2] for group in self.groups]
        if not same:
            self.beginResetModel()
        self.groups = groups
        if not same:
            self.endResetModel()
        elif groups:
            self.dataChanged.emit(self.index(0, 0), self.index(len(groups) - 1, SITES))

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Ways to fail."""
        return 0 if parent.isValid() else len(self.groups)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the delegate paints."""
        group, column = self.groups[index.row()], index.column()
        if role in _DISPLAY or role == Qt.ItemDataRole.ToolTipRole:
            reason = group.reason or "No reason is recorded"
            return (reason, group.cause, f"{len(group.jobs):,}", group.sites)[column]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == TONE:
            return None if column == REASON else "muted"
        return None


class ValuesTable(QAbstractTableModel):
    """One row for each job of the batch: its value, how it stands, where and how long it ran."""

    SHOWN = ("parameter", "state", "site", "wait", "runtime", "exit", "ended", "reason")

    def __init__(self, rows: JobStore) -> None:
        super().__init__()
        self._rows = rows
        self.order: list[int] = []
        """Row numbers of the store, as they are shown."""
        self.columns = [COLUMNS[BY_NAME[name]] for name in self.SHOWN]

    async def arrange(self, numbers: Sequence[int], column: int, descending: bool) -> None:
        """Show these rows ordered by a column, in slices."""
        key, held, now = self.columns[column].key, self._rows.columns, time.time()
        keys: dict[int, Any] = {}
        for part in parts(numbers):
            if self.SHOWN[column] == "parameter":
                keys.update((at, value_order(held["parameter"][at])) for at in part)
            else:
                keys.update((at, key(held, at, now)) for at in part)
            await breathe()
        order = await in_order(numbers, keys.__getitem__, descending)
        self._show(order)

    def _show(self, order: list[int]) -> None:
        if len(order) != len(self.order):
            self.beginResetModel()
            self.order = order
            self.endResetModel()
        elif order != self.order:
            self.layoutAboutToBeChanged.emit()
            before = self.persistentIndexList()
            rows = {at: row for row, at in enumerate(order)}
            moved = [self.index(rows.get(self.order[one.row()], -1), one.column()) for one in before]
            self.order = order
            self.changePersistentIndexList(before, moved)
            self.layoutChanged.emit()
        elif order:
            self.dataChanged.emit(self.index(0, 0), self.index(len(order) - 1, len(self.columns) - 1))

    def job_at(self, row: int) -> str:
        """Id of the job of a row."""
        return str(self._rows.columns["id"][self.order[row]])

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Jobs of the batch."""
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """All columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles; numbers stand right."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return "Value" if self.SHOWN[section] == "parameter" else self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if self.columns[section].right else LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the delegate paints."""
        at, name, held = self.order[index.row()], self.SHOWN[index.column()], self._rows.columns
        column = self.columns[index.column()]
        if role in _DISPLAY:
            if name == "parameter":
                return held["parameter"][at] or held["name"][at]
            if name == "reason":
                return held["error_line"][at] or held["reason"][at]
            return column.cell(held, at, time.time())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if column.right else None
        if role == GLYPH and name == "state":
            style = style_of_number(held, at)
            return style.shape, style.token
        if role == TONE:
            return (
                style_of_number(held, at).token if name == "state" else ("muted", None)[name == "parameter"]
            )
        if role == FONT:
            return "strong" if name == "state" else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return held["error_line"][at] or held["reason"][at] or held["name"][at]
        return None


class ValuesPane(QWidget):
    """One row for each job, ordered by any column; a row opens its job, and all can be exported."""

    selected = Signal(list)
    """Ids of the first few jobs that are selected."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._numbers: Sequence[int] = ()
        self.model = ValuesTable(context.jobs)
        self.view = RowTable(context.theme, "Values of the batch")
        self.view.setModel(self.model)
        self.view.widths(120, 140, 96, 72, 88, 72, 104, 200, stretched=len(ValuesTable.SHOWN) - 1)
        self.view.setSelectionMode(RowTable.SelectionMode.ExtendedSelection)
        self.view.selectionModel().selectionChanged.connect(lambda *_: self._tell())
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

    def _tell(self) -> None:
        spans = self.view.selectionModel().selection().toList()
        rows = sorted(row for span in spans for row in range(span.top(), span.bottom() + 1)[:_FEW])
        self.selected.emit([self.model.job_at(row) for row in rows[:_FEW]])

    def _arrange_later(self) -> None:
        self._context.run(self.show_rows(self._numbers), "ordering the values")

    async def _gather(self) -> Written:
        return jobs_table(self._context.jobs.columns, self.model.order, time.time())
