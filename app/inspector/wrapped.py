"""Lines of a tree that are as tall as their text needs in the width of the tree."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTreeView

_ICON, _PADDING = 24, 8


class WrappedLines(QStyledItemDelegate):
    """Wraps the spanned lines below the first level; follows the width of the tree."""

    def __init__(self, tree: QTreeView) -> None:
        super().__init__(tree)
        self._tree = tree
        tree.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QResizeEvent) and event.size().width() != event.oldSize().width():
            self._tree.scheduleDelayedItemsLayout()
        return super().eventFilter(watched, event)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        usual = super().sizeHint(option, index)
        depth, parent = 0, index.parent()
        while parent.isValid():
            depth, parent = depth + 1, parent.parent()
        if not depth:
            return QSize(usual.width(), max(28, usual.height()))
        icon = _ICON if index.data(Qt.ItemDataRole.DecorationRole) else 0
        room = self._tree.viewport().width() - self._tree.indentation() * (depth + 1) - icon - _PADDING
        text = str(index.data() or "")
        needed = self._tree.fontMetrics().boundingRect(
            QRect(0, 0, max(80, room), 10_000), int(Qt.TextFlag.TextWordWrap), text
        )
        return QSize(usual.width(), max(22, needed.height() + 6))
