"""A table of the desktop: rows of one height, hover over the whole row, no grid."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.theme.theme import Theme
from app.widgets.cells import CellDelegate


class RowTable(QTableView):
    """A QTableView painted by `CellDelegate`. Columns have their given widths; `stretched` takes the rest."""

    chosen = Signal(int)
    """The row that became current; -1 for none."""
    opened = Signal(int)
    """A row asked for by Return or a double click."""
    escaped = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stretching = False
        """True while the table itself changes the width of a column."""
        self._theme, self._stretched, self._least, self._compact = theme, -1, 0, False
        self.cells = CellDelegate(theme, self)
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
        """Give the columns their widths; `stretched` gets what is left, at least its own."""
        self._stretched, self._compact = stretched, compact
        self._least = pixels[stretched] if stretched >= 0 else 0
        for place, width in enumerate(pixels):
            self.setColumnWidth(place, width)
        self._dress()
        self._stretch()

    def stretch(self, column: int) -> None:
        """Let another column take what is left."""
        if self._stretched >= 0:
            self.setColumnWidth(self._stretched, self._least)
        self._stretched, self._least = column, self.columnWidth(column)
        self._stretch()

    def row(self) -> int:
        """The current row, -1 for none."""
        return self.currentIndex().row()

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Show a model, and tell which of its rows is current."""
        super().setModel(model)
        self.selectionModel().currentRowChanged.connect(lambda now, _: self.chosen.emit(now.row()))

    def _dress(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.height(self._compact))
        self.viewport().update()

    def _stretch(self) -> None:
        if self._stretched < 0 or self.model() is None:
            return
        self.stretching = True
        header = self.horizontalHeader()
        others = sum(header.sectionSize(at) for at in range(header.count()) if at != self._stretched)
        self.setColumnWidth(self._stretched, max(self._least, self.viewport().width() - others))
        self.stretching = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the stretched column as wide as there is room."""
        super().resizeEvent(event)
        self._stretch()

    def setColumnHidden(self, column: int, hide: bool) -> None:
        """Hide or show a column; the stretched one gives or takes its room."""
        super().setColumnHidden(column, hide)
        self._stretch()

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
