"""Attributes of many resources, column by column, changed row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.jdl.glue.attributes import ALIASES
from broker_core.jdl.glue.glue2 import SAME
from broker_core.jdl.syntax.tree import UNDEFINED
from broker_core.resources.column import AttributeColumn, key_of
from broker_core.resources.facts import START_ESTIMATE

_TWIN: Mapping[str, str] = {other: one for one, other in ALIASES} | {
    newer: older for older, newer, factor in SAME if factor == 1
}
"""Names that share the column of another name as long as both have the same value in every row."""
_FIRST = 16
_WAIT = "gluecestateestimatedresponsetime"
_ESTIMATED_BY = START_ESTIMATE.lower()


class Columns:
    """Values by lower-case GLUE name (CB-ENV-04) for each computing element; rows keep their number.

    A removed row stays empty until another resource gets it. The counts that change all the time are not
    here but in the arrays of `Pool`.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._empty: list[int] = []
        self._columns: dict[str, AttributeColumn] = {}
        self._capacity = _FIRST
        self._order: npt.NDArray[np.intp] | None = None
        self._site_numbers: npt.NDArray[np.int64] | None = None
        self.used: npt.NDArray[np.bool_] = np.zeros(_FIRST, np.bool_)
        """Rows that hold a resource, at least `size` of them."""
        self.ces: list[str] = []
        """Computing element of each row; empty for an empty row."""
        self.sites: list[str] = []
        """Site of each row."""
        self.version = 0
        """Rises with every change of a value or a row."""
        self.membership = 0
        """Rises when a resource comes or goes."""
        self.layout = 0
        """Rises when an attribute comes that no resource had before."""
        self.memory: object = None
        """What matching made of these columns, to be used again."""

    def __len__(self) -> int:
        """Number of resources."""
        return len(self._rows)

    @property
    def size(self) -> int:
        """Number of rows, empty ones included."""
        return len(self.ces)

    @property
    def full(self) -> bool:
        """True if no row is empty."""
        return not self._empty

    @property
    def names(self) -> list[str]:
        """Lower-case names of the attributes that some resource has or had, each column once."""
        return list(self._columns)

    def row_of(self, ce: str) -> int | None:
        """The row of a computing element."""
        return self._rows.get(ce)

    def put(self, ce: str, site: str, values: Mapping[str, Any]) -> int:
        """Set all values of a resource, and return its row; what is not named is `undefined` then."""
        row = self._rows.get(ce)
        if row is None:
            row = self._new_row(ce)
        changed = self.sites[row] != site
        if changed:
            self.sites[row], self._site_numbers = site, None
        for name, value in values.items():
            if name not in _TWIN or not self._is_shared(name, value, values):
                changed |= (self._columns.get(name) or self._own(name)).put(row, value)
        for name, column in self._columns.items():
            if name not in values:
                changed |= column.clear(row)
        self.version += changed
        return row

    def remove(self, ce: str) -> None:
        """Forget a resource; unknown ones are none."""
        row = self._rows.pop(ce, None)
        if row is None:
            return
        for column in self._columns.values():
            column.clear(row)
        self.ces[row] = self.sites[row] = ""
        self._site_numbers = None
        self.used[row] = False
        self._empty.append(row)
        self._changed()

    def column(self, name: str) -> AttributeColumn | None:
        """The column of a lower-case name; None if no resource ever had it."""
        found = self._columns.get(name)
        if found is None and (twin := _TWIN.get(name)) is not None:
            return self.column(twin)
        return found

    def values(self, row: int) -> dict[str, Any]:
        """The values of a row by lower-case name."""
        found = {name: column.value(row) for name, column in self._columns.items()}
        for name in _TWIN:
            if name not in found and (column := self.column(name)) is not None:
                found[name] = column.value(row)
        return {name: value for name, value in found.items() if value is not UNDEFINED}

    def expected_wait(self, row: int) -> float | None:
        """Seconds until a job would start at the resource of a row; None where nobody knows."""
        wait = self._columns.get(_WAIT)
        value = UNDEFINED if wait is None else wait.value(row)
        if value is UNDEFINED or isinstance(value, bool) or not isinstance(value, int | float):
            return None
        by = self._columns.get(_ESTIMATED_BY)
        return None if by is not None and by.value(row) == "guess" else float(value)

    def order(self, size: int) -> npt.NDArray[np.intp]:
        """The first `size` rows, empty ones left out, in ascending order of their computing element's id."""
        if self._order is None:
            rows = sorted(self._rows.items())
            self._order = np.fromiter((row for _, row in rows), np.intp, len(rows))
        return self._order if size == self.size else self._order[self._order < size]

    @property
    def site_numbers(self) -> npt.NDArray[np.int64]:
        """For each row a number of its site: equal where the sites are."""
        if self._site_numbers is None or len(self._site_numbers) != self.size:
            numbers: dict[str, int] = {}
            found = [numbers.setdefault(one, len(numbers)) for one in self.sites]
            self._site_numbers = np.array(found, np.int64)
        return self._site_numbers

    def _new_row(self, ce: str) -> int:
        if self._empty:
            row = self._empty.pop()
            self.ces[row] = ce
        else:
            row = len(self.ces)
            self.ces.append(ce)
            self.sites.append("")
            if row == self._capacity:
                self._grow()
        self._rows[ce] = row
        self.used[row] = True
        self._changed()
        return row

    def _changed(self) -> None:
        self._order = None
        self.membership += 1
        self.version += 1

    def _grow(self) -> None:
        self._capacity += self._capacity // 4 + _FIRST
        for column in self._columns.values():
            column.grow(self._capacity)
        used = np.zeros(self._capacity, np.bool_)
        used[: len(self.used)] = self.used
        self.used = used

    def _is_shared(self, name: str, value: Any, values: Mapping[str, Any]) -> bool:
        """True if the column of the other name tells this value too."""
        if name in self._columns:
            return False
        other = values.get(_TWIN[name], UNDEFINED)
        return other is value or key_of(other) == key_of(value)

    def _own(self, name: str) -> AttributeColumn:
        """The column of this very name; made, or parted from its twin, where there is none."""
        found = self._columns.get(name)
        if found is None:
            twin = self.column(name)
            found = twin.copy() if twin is not None else AttributeColumn(self._capacity)
            self._columns[name] = found
            self.layout += 1
        return found
