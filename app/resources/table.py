"""The model of the resources table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app import units
from app.resources.columns import BY_NAME, COLUMNS, state_of
from app.widgets.cells import FONT, GLYPH, SHARE, TONE
from app.widgets.csv_file import Written

if TYPE_CHECKING:
    from app.stores.resources import ResourceStore

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TIMES = frozenset({"updated", "lock_until"})
_STATE, _SITE, _FREE, _HEARD = (BY_NAME[name] for name in ("state", "site", "free_cpus", "updated"))


def resources_csv(held: Mapping[str, Sequence[Any]], rows: Sequence[int]) -> Written:
    """Return these rows with all columns and exact values."""
    return Written(("state", *held), _csv_rows(held, rows))


def _csv_rows(held: Mapping[str, Sequence[Any]], rows: Sequence[int]) -> Iterator[list[Any]]:
    for row in rows:
        values = (
            units.exact(column[row]) if name in _TIMES else column[row] for name, column in held.items()
        )
        yield [state_of(held, row)[2], *values]


class ResourcesTable(QAbstractTableModel):
    """Shows rows of the held columns in a given order; of many, only the visible ones cost anything."""

    def __init__(self, held: ResourceStore) -> None:
        super().__init__()
        self._held = held
        self._columns = held.columns
        self._order: list[int] = []

    def arrange(self, order: list[int]) -> None:
        """Show these rows of the columns as they are now; the same number of rows is painted in place."""
        same = len(order) == len(self._order)
        if not same:
            self.beginResetModel()
        self._columns, self._order = self._held.columns, order
        if not same:
            self.endResetModel()
        elif order:
            self.dataChanged.emit(self.index(0, 0), self.index(len(order) - 1, len(COLUMNS) - 1))

    def ce_at(self, row: int) -> str:
        """Return the computing element of a row; empty beyond the end."""
        return str(self._columns["ce"][self._order[row]]) if 0 <= row < len(self._order) else ""

    def row_of(self, ce: str) -> int:
        """Return the row of a computing element, -1 if it is not shown."""
        try:
            return self._order.index(self._columns["ce"].index(ce))
        except ValueError:
            return -1

    def rows(self) -> list[int]:
        """Return the shown rows as numbers of the columns."""
        return self._order

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Resources shown."""
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """All columns, hidden ones included."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles; numbers stand right."""
        if orientation is not Qt.Orientation.Horizontal or section >= len(COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section].title
        return (
            (_RIGHT if COLUMNS[section].right else _LEFT)
            if role == Qt.ItemDataRole.TextAlignmentRole
            else None
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the delegate paints."""
        column, row = index.column(), self._order[index.row()]
        held = self._columns
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return COLUMNS[column].cell(held, row, time.time() + self._held.ahead)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if COLUMNS[column].right else None
        if role == TONE:
            return state_of(held, row)[1] if column == _STATE else COLUMNS[column].tone
        if role == GLYPH:
            return state_of(held, row)[:2] if column == _STATE else None
        if role == SHARE and column == _FREE and held["total_cpus"][row]:
            return held["free_cpus"][row] / held["total_cpus"][row], "positive"
        if role == FONT:
            return "strong" if column == _SITE else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(column, row)
        return None

    def _tip(self, column: int, row: int) -> str:
        held = self._columns
        if column == _STATE and held["marks"][row]:
            return f"{state_of(held, row)[2]}: open the details to see why"
        if column == _HEARD:
            return f"{units.exact(held['updated'][row])}, from {held['sources'][row] or 'no source'}"
        return str(held["ce"][row])
