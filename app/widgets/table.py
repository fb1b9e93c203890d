"""A table of the desktop: rows of one height, hover over the whole row, no grid."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.theme.theme import Theme
from app.widgets.cells import CellDelegate
from app.widgets.column_widths import ContentColumns

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class TitledModel(QAbstractTableModel):
    """Rows below fixed titles; numbers stand right, in the header too."""

    TITLES: ClassVar[Sequence[str]]
    NUMBERS: ClassVar[Collection[int]] = frozenset()
    """Columns that stand right."""

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """All columns, hidden ones included."""
        return 0 if parent.isValid() else len(self.TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if section in self.NUMBERS else LEFT
        return None

    def alignment(self, column: int) -> Qt.AlignmentFlag | None:
        """How a cell of a column stands; None: left, as all do."""
        return RIGHT if column in self.NUMBERS else None


class RowTable(QTableView):
    """A QTableView painted by `CellDelegate`; columns are as wide as their cells need."""

    chosen = Signal(int)
    """The row that became current; -1 for none."""
    opened = Signal(int)
    """A row asked for by Return or a double click."""
    escaped = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._compact = theme, False
        self.cells = CellDelegate(theme, self)
        self.contents = ContentColumns(self, theme, self._cell_width)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.contents.fit)
        self.setItemDelegate(self.cells)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        for mode in (self.setVerticalScrollMode, self.setHorizontalScrollMode):
            mode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setMinimumSectionSize(40)
        theme.changed.connect(self._dress)
        self._dress()

    def widths(self, *pixels: int, stretched: int = -1, compact: bool = False) -> None:
        """Give the columns their least widths at the base size of text; `stretched` gets what is left."""
        self._compact = compact
        self.contents.declare(pixels, stretched)
        self._dress()

    def stretch(self, column: int) -> None:
        """Let another column take what is left."""
        self.contents.stretch(column)

    def row(self) -> int:
        """The current row, -1 for none."""
        return self.currentIndex().row()

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Show a model, and tell which of its rows is current."""
        super().setModel(model)
        self.selectionModel().currentRowChanged.connect(lambda now, _: self.chosen.emit(now.row()))
        if model is not None:
            model.modelReset.connect(self._new_rows)
            for signal in (model.rowsInserted, model.dataChanged, model.layoutChanged):
                signal.connect(self._later.start)

    def _dress(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.height(self._compact))
        self.viewport().update()
        self.contents.forget()
        self.contents.fit()

    def _cell_width(self, row: int, column: int) -> int:
        return self.cells.width_of(self.model().index(row, column))

    def _new_rows(self) -> None:
        self.contents.forget()
        self._later.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the room that there is now."""
        super().resizeEvent(event)
        if self._later.isActive():
            self._later.stop()  # to measure twice takes twice as long
            self.contents.fit()
        else:
            self.contents.fit_room()

    def setColumnHidden(self, column: int, hide: bool) -> None:
        """Hide or show a column; the others give or take its room."""
        super().setColumnHidden(column, hide)
        self.contents.fit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the row under the pointer."""
        self._hover(self.rowAt(round(event.position().y())))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """No row is under the pointer."""
        self._hover(-1)
        super().leaveEvent(event)

    def _hover(self, row: int) -> None:
        if row != self.cells.hovered:
            self.cells.hovered = row
            self.viewport().update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open a row."""
        row = self.rowAt(round(event.position().y()))
        if row >= 0:
            self.opened.emit(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return opens; Escape lets go."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.row() >= 0:
            self.opened.emit(self.row())
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)
