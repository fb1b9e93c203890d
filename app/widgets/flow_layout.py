"""A layout of lines that wrap, as words do: Qt has none."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget, QWidgetItem


class FlowLayout(QLayout):
    """Puts widgets beside each other in the width of their hints; what does not fit begins a further line.

    It asks for the width of its widest widget only. Within a line all are equally high.
    """

    def __init__(self, parent: QWidget | None = None, spacing: int = 8, below: int = 8) -> None:
        """`below`: pixels between two lines."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._below = below
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addWidget(self, widget: QWidget) -> None:
        """Add one with an item that is made here, of whose end Python hears. Of one that Qt makes it does
        not, and takes a later one at the same address for that which is gone."""
        self.addChildWidget(widget)
        self.addItem(QWidgetItem(widget))

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """How high all lines are together in this width."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        """All in one line."""
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return self._with_margins(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """The widest alone in its line."""
        sizes = [item.minimumSize() for item in self._shown()]
        width = max((size.width() for size in sizes), default=0)
        return self._with_margins(width, max((size.height() for size in sizes), default=0))

    def _with_margins(self, width: int, height: int) -> QSize:
        around = self.contentsMargins()
        return QSize(width + around.left() + around.right(), height + around.top() + around.bottom())

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _lines(self, room: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._shown():
            width = item.sizeHint().width()
            if not lines or width > left:
                lines.append([])
                left = room
            lines[-1].append(item)
            left -= width + self.spacing()
        return lines

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        inner = rect.marginsRemoved(self.contentsMargins())
        top = inner.top()
        for number, line in enumerate(self._lines(inner.width())):
            top += self._below if number else 0
            high, left = max(item.sizeHint().height() for item in line), inner.left()
            for item in line:
                width = min(item.sizeHint().width(), inner.width())
                if move:
                    item.setGeometry(QRect(left, top, width, high))
                left += width + self.spacing()
            top += high
        return top - inner.top() + self._with_margins(0, 0).height()
