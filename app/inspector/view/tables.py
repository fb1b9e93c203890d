"""Tables that programs publish: the newest of each name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QTableView, QVBoxLayout, QWidget

from app import units
from app.inspector.view.chooser import chooser
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton
from app.widgets.labels import label
from broker_core.jobs.published.records import TableRecord

if TYPE_CHECKING:
    from app.context import AppContext

_ROWS_FOR_WIDTH = 50
"""Rows that settle how wide columns are at first."""
_Index = QModelIndex | QPersistentModelIndex


class RecordModel(QAbstractTableModel):
    """The cells of a table that was published; numbers stand right."""

    def __init__(self, table: TableRecord) -> None:
        super().__init__()
        self.table = table

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Rows of the table."""
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Columns of the table."""
        return 0 if parent.isValid() else len(self.table.columns)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell as text."""
        cell = self.table.rows[index.row()][index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return cell if isinstance(cell, str) else f"{cell:.12g}"
        if role == Qt.ItemDataRole.TextAlignmentRole and not isinstance(cell, str):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Names of columns, numbers of rows."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self.table.columns[section] if orientation is Qt.Orientation.Horizontal else str(section + 1)


class TablesView(QWidget):
    """One table at a time, chosen by its name."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._tables: dict[str, TableRecord] = {}
        self._shown: TableRecord | None = None
        self.chooser, self.cells = chooser("Table"), QTableView()
        self.about = label(role="small", fluid=True)
        self.save = ExportButton(context, "table", "row", self.gather)
        self.cells.setAccessibleName("Published table")
        self.cells.verticalHeader().setDefaultSectionSize(24)
        self.cells.setWordWrap(False)
        self.cells.horizontalHeader().setResizeContentsPrecision(_ROWS_FOR_WIDTH)
        self.cells.setMinimumHeight(96)
        if (corner := self.cells.findChild(QAbstractButton)) is not None:
            corner.setAccessibleName("Select all cells")
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 8, 4)
        bar.setSpacing(4)
        bar.addWidget(self.chooser)
        bar.addWidget(self.about, 1)
        bar.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.cells, 1)
        self.chooser.currentTextChanged.connect(self._refresh)

    def show_tables(self, tables: dict[str, TableRecord]) -> None:
        """Show these tables as they are now."""
        self._tables = tables
        known = [self.chooser.itemText(at) for at in range(self.chooser.count())]
        if known != list(tables):
            chosen = self.chooser.currentText()
            self.chooser.blockSignals(True)
            self.chooser.clear()
            self.chooser.addItems(list(tables))
            self.chooser.setCurrentIndex(list(tables).index(chosen) if chosen in tables else 0)
            self.chooser.blockSignals(False)
        self._refresh()

    def _refresh(self) -> None:
        table = self._tables.get(self.chooser.currentText())
        if table is None or table is self._shown:
            return
        self._shown = table
        before, scroll = self.cells.model(), self.cells.verticalScrollBar().value()
        self.cells.setModel(RecordModel(table))
        if not isinstance(before, RecordModel) or before.table.columns != table.columns:
            self.cells.resizeColumnsToContents()
        if before is not None:
            before.deleteLater()
        self.cells.verticalScrollBar().setValue(scroll)
        self.about.setText(units.count(len(table.rows), "row"))

    async def gather(self) -> Written:
        """The table that is shown."""
        return Written([], []) if self._shown is None else Written(self._shown.columns, self._shown.rows)
