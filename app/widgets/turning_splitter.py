"""Two parts of a page: beside each other where there is room, else above each other."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter

Sizes = tuple[int, int]


class TurningSplitter(QSplitter):
    """Asks for the width of its wider part only: narrower than `wide` pixels it turns."""

    def __init__(self, wide: int, beside: Sizes, below: Sizes) -> None:
        """`beside`, `below`: shares of the parts; those that the user chose last until it turns."""
        super().__init__(Qt.Orientation.Horizontal)
        self._wide, self._beside, self._below = wide, beside, below
        self.setChildrenCollapsible(False)

    def minimumSizeHint(self) -> QSize:
        parts = [part for at in range(self.count()) if (part := self.widget(at)) and part.isVisibleTo(self)]
        widths = [max(part.minimumSizeHint().width(), part.minimumWidth()) for part in parts]
        return QSize(max(widths, default=0), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn if the width asks for it."""
        super().resizeEvent(event)
        beside = event.size().width() >= self._wide
        orientation = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if orientation is not self.orientation() or not any(self.sizes()):
            self.setOrientation(orientation)
            self.setSizes(list(self._beside if beside else self._below))
