"""Parts of a console side by side and one above the other; one that closes gives its room back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QSplitter, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from app.context import Desk

LEAST = QSize(280, 120)
"""Pixels that a part needs to be of use."""
_SETTLED = 400
_WAYS = {Qt.Orientation.Horizontal: "beside", Qt.Orientation.Vertical: "below"}
Side, Above = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


class Row(QSplitter):
    """Parts in one direction. Side by side needs room: in a narrow pane they stand above each other."""

    def __init__(self, way: Qt.Orientation) -> None:
        super().__init__(way)
        self.way = way
        """As the user wants it."""
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)

    def minimumSizeHint(self) -> QSize:
        """As wide as one part: else it would never get narrow enough to turn. Lower, it is scrolled."""
        heights = [_height(self.widget(place)) for place in range(self.count())]
        stacked = self.orientation() is Above
        return QSize(LEAST.width(), sum(heights) if stacked else max(heights, default=0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn where there is too little room."""
        super().resizeEvent(event)
        self.turn()

    def turn(self) -> None:
        """Stand as wanted, if there is room for it."""
        narrow = self.width() < LEAST.width() * self.count()
        self.setOrientation(Above if narrow else self.way)

    def shares(self) -> list[float]:
        """How the room is shared, 1 in all."""
        sizes = self.sizes()
        return [size / (sum(sizes) or 1) for size in sizes]

    def share(self, shares: list[float]) -> None:
        """Share the room so."""
        room = max(self.width(), self.height())
        self.setSizes([round(room * one) for one in shares])


class Splits(QWidget):
    """All parts of one console, from the one that was first."""

    def __init__(self, desk: Desk, first: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._scroll = QScrollArea(widgetResizable=True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column.addWidget(self._scroll)
        self._root = self._row(Side)
        self._scroll.setWidget(self._root)
        self._root.addWidget(first)
        self._keeping = QTimer(self, singleShot=True, interval=_SETTLED)
        self._keeping.timeout.connect(self._keep)

    def minimumSizeHint(self) -> QSize:
        """That of one part."""
        return LEAST

    def parts(self) -> list[QWidget]:
        """All parts, in the order in which they are read."""
        return list(_leaves(self._root))

    def split(self, part: QWidget, new: QWidget, way: Qt.Orientation) -> None:
        """Put a new part beside or below another one, with half of its room, or what it had last."""
        row = self._row_of(part)
        if row.count() == 1:
            row.way = way
        elif row.way is not way:
            row = self._nested(row, part, way)
        sizes, place = row.sizes(), row.indexOf(part)
        row.insertWidget(place + 1, new)
        new.show()
        row.turn()
        if row.count() == 2:
            row.share(self._kept(way))
        else:
            half = sizes[place] // 2
            row.setSizes([*sizes[:place], sizes[place] - half, half, *sizes[place + 1 :]])

    def close_part(self, part: QWidget) -> None:
        """Take a part out; those beside it get its room. The last one cannot be taken out."""
        row = self._row_of(part)
        focused = part.isAncestorOf(QApplication.focusWidget()) if QApplication.focusWidget() else False
        place = self.parts().index(part)
        part.hide()
        part.setParent(None)
        self._simplify(row)
        if focused:
            self.parts()[max(0, place - 1)].setFocus()

    def step(self, part: QWidget, way: int) -> None:
        """Give the keyboard to the next part, or with -1 to the one before."""
        parts = self.parts()
        parts[(parts.index(part) + way) % len(parts)].setFocus()

    def _row(self, way: Qt.Orientation) -> Row:
        row = Row(way)
        row.splitterMoved.connect(lambda *_: self._keeping.start())
        return row

    def _row_of(self, part: QWidget) -> Row:
        row = part.parentWidget()
        assert isinstance(row, Row)
        return row

    def _nested(self, row: Row, part: QWidget, way: Qt.Orientation) -> Row:
        """A row of its own for a part, in its place."""
        inner, sizes, place = self._row(way), row.sizes(), row.indexOf(part)
        inner.addWidget(part)
        row.insertWidget(place, inner)
        inner.show()
        row.setSizes(sizes)
        return inner

    def _simplify(self, row: Row) -> None:
        """A row of one part is none; the part stands where the row stood."""
        above = row.parentWidget()
        if row.count() != 1:
            return
        only = row.widget(0)
        if isinstance(above, Row):
            sizes, place = above.sizes(), above.indexOf(row)
            row.setParent(None)
            above.insertWidget(place, only)
            above.setSizes(sizes)
            row.deleteLater()
        elif isinstance(only, Row):
            only.setParent(None)
            self._root = only
            self._scroll.setWidget(only)
            only.show()

    def _kept(self, way: Qt.Orientation) -> list[float]:
        found = self._desk.preferences["console_splits"].get(_WAYS[way], 0.5)
        first = found if isinstance(found, float) and 0.1 <= found <= 0.9 else 0.5
        return [first, 1 - first]

    def _keep(self) -> None:
        """Remember how two parts share their room, for the next time."""
        kept = dict(self._desk.preferences["console_splits"])
        for row in (self._root, *self._root.findChildren(Row)):
            if row.count() == 2:
                kept[_WAYS[row.orientation()]] = round(row.shares()[0], 3)
        self._desk.preferences["console_splits"] = kept


def _height(part: QWidget) -> int:
    """The least height of a part or row."""
    return max(part.minimumSizeHint().height(), LEAST.height())


def _leaves(row: Row) -> Iterator[QWidget]:
    for place in range(row.count()):
        child = row.widget(place)
        if isinstance(child, Row):
            yield from _leaves(child)
        else:
            yield child
