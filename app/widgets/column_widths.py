"""Widths of a table's columns from what stands in them, in the size of text that is worn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QTableView

from app.theme.theme import BASE, Theme

_AROUND_TITLE, _ARROW = 16, 18
"""Pixels beside the words of a heading, and those of the arrow that tells the order."""


def divide(least: Sequence[int], needed: Sequence[int], room: int, stretched: int) -> list[int]:
    """Return the widths of columns in `room` pixels: to each its `least`, then to those that lack little.

    What is left when all have what they need goes to the column `stretched`. Columns that lack something,
    that one first, take what others have of their `least` and do not need.
    """
    widths, spare = list(least), room - sum(least)
    by_lack = sorted(range(len(least)), key=lambda one: needed[one] - least[one])
    for column in by_lack:
        more = min(max(0, needed[column] - least[column]), max(0, spare))
        widths[column] += more
        spare -= more
    widths[stretched] += max(0, spare)
    for column in (stretched, *by_lack):
        for other in range(len(least)):
            given = min(max(0, needed[column] - widths[column]), max(0, widths[other] - needed[other]))
            widths[other] -= given
            widths[column] += given
    return widths


class ContentColumns:
    """Keeps the columns of one table as wide as their cells in sight need, as far as there is room.

    What cells needed once is remembered until `forget`, so that columns do not tremble while times count on.
    A column whose edge the user moved stays as it was left.
    """

    def __init__(self, view: QTableView, theme: Theme, cell_width: Callable[[int, int], int]) -> None:
        """`cell_width`: pixels that the cell of a row and column needs, with what is around its text."""
        self._view, self._theme, self._cell_width = view, theme, cell_width
        self._least: list[int] = []
        self._seen: list[int] = []
        self._measured = range(0)
        """Rows whose cells were looked at since anything in them changed."""
        self._by_hand: dict[int, int] = {}
        self._stretched = -1
        self.at_work = False
        """True while widths are set from here."""
        view.horizontalHeader().sectionResized.connect(self._moved)

    def declare(self, least: Sequence[int], stretched: int) -> None:
        """Give every column its least width at the base size of text; `stretched` takes the rest."""
        self._least, self._stretched = list(least), stretched
        self.forget()

    def stretch(self, column: int) -> None:
        """Let another column take the rest."""
        self._stretched = column
        self.fit()

    def forget(self) -> None:
        """The rows or the size of text are others now."""
        self._seen, self._measured = [0] * len(self._least), range(0)

    def fit_room(self) -> None:
        """Set all widths where only the room is another: rows that were measured are as they were."""
        self._fit()

    def fit(self) -> None:
        """Set all widths."""
        self._measured = range(0)
        self._fit()

    def _fit(self) -> None:
        header, columns = self._view.horizontalHeader(), range(len(self._least))
        if self._view.model() is None or not self._least or header.count() != len(self._least):
            return
        shown = [column for column in columns if not header.isSectionHidden(column)]
        self._measure(shown)
        if self._stretched in shown:
            least, needed = [self._floor(one) for one in shown], [self.needed(one) for one in shown]
            room, stretched = self._view.viewport().width(), shown.index(self._stretched)
            widths = divide(least, needed, room, stretched)
        else:
            widths = [max(self._floor(one), self.needed(one)) for one in shown]
        self.at_work = True
        for column, width in zip(shown, widths, strict=True):
            self._view.setColumnWidth(column, width)
        self.at_work = False

    def _moved(self, column: int, _: int, width: int) -> None:
        if not self.at_work and width and column != self._stretched:
            self._by_hand[column] = width

    def _floor(self, column: int) -> int:
        return self._by_hand.get(column) or round(self._least[column] * self._theme.size / BASE)

    def needed(self, column: int) -> int:
        """Pixels that its heading and the cells seen so far need, or to which the user set it."""
        return self._by_hand.get(column) or self._seen[column]

    def _measure(self, shown: Sequence[int]) -> None:
        """Take the needs of the headings and of the rows in sight."""
        font = self._theme.font("small")
        font.setWeight(font.Weight.DemiBold)
        titles, model, view = QFontMetrics(font), self._view.model(), self._view
        arrow = _ARROW if view.horizontalHeader().isSortIndicatorShown() else 0
        first = max(0, view.rowAt(0))
        last = view.rowAt(view.viewport().height() - 1)
        in_sight = range(first, (last if last >= 0 else model.rowCount() - 1) + 1)
        rows = [row for row in in_sight if row not in self._measured]
        self._measured = in_sight
        for column in shown:
            title = str(model.headerData(column, view.horizontalHeader().orientation()) or "")
            needed = [titles.horizontalAdvance(title) + _AROUND_TITLE + arrow]
            needed += [self._cell_width(row, column) for row in rows]
            self._seen[column] = max(self._seen[column], *needed)
