"""A CSV or TSV file as a table and as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.inspector import job_times
from app.inspector.output.table_data import MOST_ROWS, ParsedTable
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.output.plot import TablePlot

_Index = QModelIndex | QPersistentModelIndex


class TableModel(QAbstractTableModel):
    """The cells of a table; numbers stand right."""

    def __init__(self, table: ParsedTable) -> None:
        super().__init__()
        self.table = table

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.table.names)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.table.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row[index.column()] if index.column() < len(row) else ""
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in self.table.numbers:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.table.names[section] if orientation is Qt.Orientation.Horizontal else str(section + 1)
        return None


class TablePreview(QWidget):
    """Two faces of one table: the plot first where there are numbers to draw."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.table = ParsedTable([], [])
        self.cells, self.told = QTableView(), label(role="small", fluid=True)
        self.plot: TablePlot | None = None
        self.as_table, self.as_plot = QToolButton(), QToolButton()
        self._faces = QStackedWidget()
        self._plotting = True
        self._lay_out()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 8, 4)
        bar.addWidget(self.told, 1)
        for button, icon, said, on in (
            (self.as_plot, "chart-line", "Plot", True),
            (self.as_table, "table", "Table", False),
        ):
            button.setIcon(self._context.theme.icon(icon))
            button.setText(said)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.clicked.connect(lambda _=False, on=on: self.show_plot(on))
            bar.addWidget(button)
        self.cells.setAccessibleName("Table")
        self.cells.verticalHeader().setDefaultSectionSize(24)
        self.cells.setWordWrap(False)
        if (corner := self.cells.findChild(QAbstractButton)) is not None:
            corner.setAccessibleName("Select all cells")
        self._faces.addWidget(self.cells)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self._faces, 1)

    def show_table(self, table: ParsedTable) -> None:
        """Show this table, as it was shown last: drawn or as cells."""
        self.table = table
        before = self.cells.model()
        scroll = self.cells.verticalScrollBar().value()
        self.cells.setModel(TableModel(table))
        if before is not None:
            before.deleteLater()
        self.cells.verticalScrollBar().setValue(scroll)
        said = f"{job_times.count(len(table.rows), 'row')}, {job_times.count(len(table.names), 'column')}"
        self.told.setText(said + (f"; only the first {MOST_ROWS:,} rows" if table.cut else ""))
        self.as_plot.setEnabled(bool(table.numbers) and len(table.rows) > 1)
        self.as_plot.setToolTip("" if self.as_plot.isEnabled() else "There are no numbers to draw")
        self.show_plot(self._plotting and self.as_plot.isEnabled(), remember=False)

    def show_plot(self, on: bool, remember: bool = True) -> None:
        """Turn to the plot, or to the cells."""
        if remember:
            self._plotting = on
        (self.as_plot if on else self.as_table).setChecked(True)
        if not on:
            self._faces.setCurrentWidget(self.cells)
            return
        if self.plot is None:
            from app.inspector.output.plot import (
                TablePlot,  # half a second of import, only where it is wanted
            )

            self.plot = TablePlot(self._context)
            self._faces.addWidget(self.plot)
        self.plot.show_table(self.table)
        self._faces.setCurrentWidget(self.plot)
