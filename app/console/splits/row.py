"""Parts of a console in one direction, as wide and high as they have to be."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

LEAST = QSize(280, 120)
"""Pixels that a part needs to be of use."""
_FINE = 10_000
"""Sizes are weights: the finer they are, the better is a share kept."""
Side, Above = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


class SplitRow(QSplitter):
    """Parts in one direction. Side by side needs room: in a narrow pane they stand above each other."""

    def __init__(self, way: Qt.Orientation) -> None:
        super().__init__(way)
        self.way = way
        """As the user wants it."""
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self._due: list[float] = []
        """Shares that are wanted as soon as there is room."""

    def minimumSizeHint(self) -> QSize:
        """As wide as one part: else it would never get narrow enough to turn. Lower, it is scrolled."""
        heights = [_height(part) for part in self.parts()]
        stacked = self.orientation() is Above
        return QSize(LEAST.width(), sum(heights) if stacked else max(heights, default=0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn where there is too little room."""
        super().resizeEvent(event)
        self.turn()
        if self._due:
            self._weigh(self._due)

    def showEvent(self, event: QShowEvent) -> None:
        """The room is there once everything around is laid out."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._due.clear)

    def parts(self) -> list[QWidget]:
        """What stands in the row, in order."""
        found = (self.widget(place) for place in range(self.count()))
        return [part for part in found if part is not None]

    def turn(self) -> None:
        """Stand as wanted, if there is room for it."""
        narrow = self.width() < LEAST.width() * self.count()
        self.setOrientation(Above if narrow else self.way)

    def shares(self) -> list[float]:
        """How the room is shared, 1 in all."""
        sizes = self.sizes()
        room = sum(sizes)
        return [size / room if room else 1 / len(sizes) for size in sizes]

    def share(self, shares: list[float]) -> None:
        """Share the room so."""
        self._due = [] if self.isVisible() else list(shares)
        self._weigh(shares)

    def _weigh(self, shares: list[float]) -> None:
        self.setSizes([round(_FINE * one) for one in shares])


def _height(part: QWidget) -> int:
    """The least height of a part or row."""
    return max(part.minimumSizeHint().height(), LEAST.height())
