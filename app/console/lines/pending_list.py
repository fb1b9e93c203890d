"""The lines that have not left yet, in sight, to be changed or taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu, QWidget

from app.console.lines.queue import LineQueue

if TYPE_CHECKING:
    from app.context import AppContext

Index = QModelIndex | QPersistentModelIndex
_SHOWN = 5
"""Rows in sight at most; beyond that they scroll."""
_END = "(end of input)"
_Role = Qt.ItemDataRole


class LineModel(QAbstractListModel):
    """What is under way cannot be changed any more; what waits can."""

    def __init__(self, context: AppContext, queue: LineQueue) -> None:
        super().__init__()
        self._context, self._queue = context, queue

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else self.under_way + len(self._queue.waiting)

    @property
    def under_way(self) -> int:
        """How many rows at the top have left."""
        return len(self._queue.under_way)

    def data(self, index: Index, role: int = _Role.DisplayRole) -> object:
        entry = [*self._queue.under_way, *self._queue.waiting][index.row()]
        gone = index.row() < self.under_way
        if role in (_Role.DisplayRole, _Role.EditRole):
            return _END if entry.is_end else entry.text
        if role == _Role.ToolTipRole:
            return (
                "On its way to the node"
                if gone
                else "Waits here. Double-click to change it, Del to take it back"
            )
        if role == _Role.ForegroundRole:
            return self._context.theme.color("muted" if gone or entry.is_end else "text")
        return None

    def setData(self, index: Index, value: object, role: int = _Role.EditRole) -> bool:
        self._queue.change(index.row() - self.under_way, str(value))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        place = index.row() - self.under_way
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        fixed = place < 0 or self._queue.waiting[place].is_end
        return usual if fixed else usual | Qt.ItemFlag.ItemIsEditable


class LineList(QListView):
    """A list of a few rows in height; Del takes a line back."""

    changed = Signal()
    """A line was changed or taken back, or its editing has ended."""

    def __init__(self, context: AppContext, queue: LineQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue, self.lines = queue, LineModel(context, queue)
        self.setModel(self.lines)
        self.setFont(context.theme.font("mono"))
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.setAccessibleName("Lines that wait to be sent")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._offer)
        self.itemDelegate().closeEditor.connect(lambda *_: self.changed.emit())

    @property
    def editing(self) -> bool:
        """A line is being changed: nothing may leave now."""
        return self.state() is QAbstractItemView.State.EditingState

    def renew(self) -> None:
        """Show the queue as it is now; its newest lines are in sight."""
        if self.editing:
            return
        place = self.currentIndex().row()
        self.lines.beginResetModel()
        self.lines.endResetModel()
        if 0 <= place < self.lines.rowCount():
            self.setCurrentIndex(self.lines.index(place))
        self.setFixedHeight(min(max(1, self.lines.rowCount()), _SHOWN) * self._row())
        self.scrollToBottom()

    def withdraw(self) -> None:
        """Take the selected line back."""
        place = self.currentIndex().row() - self.lines.under_way
        if self._queue.withdraw(place) is not None:
            self.changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        acts: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Delete: self.withdraw,
            Qt.Key.Key_Return: lambda: self.edit(self.currentIndex()),
        }
        act = acts.get(event.key())
        if act is None or self.editing:
            super().keyPressEvent(event)
        else:
            act()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._row())

    def _row(self) -> int:
        return max(self.sizeHintForRow(0), self.fontMetrics().height() + 4)

    def _offer(self, where: QPoint) -> None:
        index = self.indexAt(where)
        if index.row() < self.lines.under_way:
            return
        menu = QMenu(self)
        change = menu.addAction("Change it", lambda: self.edit(index))
        change.setEnabled(bool(index.flags() & Qt.ItemFlag.ItemIsEditable))
        menu.addAction("Take it back", self.withdraw)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.viewport().mapToGlobal(where))
