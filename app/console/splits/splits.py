"""Parts of a console side by side and one above the other; one that closes gives its room back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from app.console.splits.arrangement import Arrangement, first
from app.console.splits.row import LEAST, Side, SplitRow

if TYPE_CHECKING:
    from app.context import AppContext

_SETTLED = 400
_WAYS = {Qt.Orientation.Horizontal: "beside", Qt.Orientation.Vertical: "below"}


class Splits(QWidget):
    """All parts of one console, from the one that was first."""

    changed = Signal()
    """Parts came or went, or share their room otherwise."""

    def __init__(self, context: AppContext, origin: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._scroll = QScrollArea(widgetResizable=True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # else a click beside a terminal takes its keys
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column.addWidget(self._scroll)
        self._root = self._row(Side)
        self._scroll.setWidget(self._root)
        self._root.addWidget(origin)
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
        self.changed.emit()

    def arrangement(self, name: Callable[[QWidget], str]) -> Arrangement:
        """How the parts stand, each by its name."""
        return _described(self._root, name)

    def arrange(self, wanted: Arrangement, make: Callable[[str], QWidget]) -> None:
        """Put parts around the first one; `make` makes the part of a name."""
        self._grow(self.parts()[0], wanted, make)

    def _grow(self, part: QWidget, wanted: Arrangement, make: Callable[[str], QWidget]) -> None:
        stand = [part]
        for one in wanted.parts[1:]:
            stand.append(make(first(one)))
            self.split(stand[-2], stand[-1], wanted.way)
        self._row_of(part).share(list(wanted.shares))
        for leaf, one in zip(stand, wanted.parts, strict=True):
            if isinstance(one, Arrangement):
                self._grow(leaf, one, make)

    def close_part(self, part: QWidget) -> None:
        """Take a part out; those beside it get its room. The last one cannot be taken out."""
        row = self._row_of(part)
        holder = QApplication.focusWidget()
        focused = holder is not None and part.isAncestorOf(holder)
        place = self.parts().index(part)
        part.hide()
        part.setParent(None)
        self._simplify(row)
        if focused:
            self.parts()[max(0, place - 1)].setFocus()
        self.changed.emit()

    def step(self, part: QWidget, way: int) -> None:
        """Give the keyboard to the next part, or with -1 to the one before."""
        parts = self.parts()
        parts[(parts.index(part) + way) % len(parts)].setFocus()

    def _row(self, way: Qt.Orientation) -> SplitRow:
        row = SplitRow(way)
        row.splitterMoved.connect(lambda *_: self._keeping.start())
        return row

    def _row_of(self, part: QWidget) -> SplitRow:
        row = part.parentWidget()
        assert isinstance(row, SplitRow)
        return row

    def _nested(self, row: SplitRow, part: QWidget, way: Qt.Orientation) -> SplitRow:
        """A row of its own for a part, in its place."""
        inner, sizes, place = self._row(way), row.sizes(), row.indexOf(part)
        inner.addWidget(part)
        row.insertWidget(place, inner)
        inner.show()
        row.setSizes(sizes)
        return inner

    def _simplify(self, row: SplitRow) -> None:
        """A row of one part is none; the part stands where the row stood."""
        above = row.parentWidget()
        if row.count() != 1:
            return
        (only,) = row.parts()
        if isinstance(above, SplitRow):
            sizes, place = above.sizes(), above.indexOf(row)
            row.setParent(None)
            above.insertWidget(place, only)
            above.setSizes(sizes)
            row.deleteLater()
        elif isinstance(only, SplitRow):
            only.setParent(None)
            self._root = only
            self._scroll.setWidget(only)
            only.show()

    def _kept(self, way: Qt.Orientation) -> list[float]:
        found = self._context.preferences["console_splits"].get(_WAYS[way], 0.5)
        share = found if isinstance(found, float) and 0.1 <= found <= 0.9 else 0.5
        return [share, 1 - share]

    def _keep(self) -> None:
        """Remember how two parts share their room, for the next time."""
        kept = dict(self._context.preferences["console_splits"])
        for row in (self._root, *self._root.findChildren(SplitRow)):
            if row.count() == 2:
                kept[_WAYS[row.orientation()]] = round(row.shares()[0], 3)
        self._context.preferences["console_splits"] = kept
        self.changed.emit()


def _described(row: SplitRow, name: Callable[[QWidget], str]) -> Arrangement:
    named = tuple(_described(one, name) if isinstance(one, SplitRow) else name(one) for one in row.parts())
    return Arrangement(row.way, named, tuple(row.shares()))


def _leaves(row: SplitRow) -> Iterator[QWidget]:
    for child in row.parts():
        if isinstance(child, SplitRow):
            yield from _leaves(child)
        else:
            yield child
