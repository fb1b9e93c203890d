"""Functions of one attribute, worked out once for each distinct value and spread by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.jdl.syntax.tree import UNDEFINED
from broker_core.matching.columnar.arrays import Array
from broker_core.matching.columnar.view import View
from broker_core.resources.tags import TAGS, is_count, queue_name, slots, slots_limit

Counts = npt.NDArray[np.int64]
UNLIMITED = 1 << 40


class ByValue:
    """`function` of the attribute `name` by row; `undefined` where it is not published."""

    def __init__(self, name: str, function: Callable[[Any], bool | int]) -> None:
        self.name = name
        self._function = function
        self._generation = 0
        self._found: list[bool | int] = []
        self._array: Array = np.zeros(0)

    def at(self, view: View, row: int) -> bool | int:
        """The result at one row."""
        return self._function(view.pool.value(row, self.name))

    def rows(self, view: View) -> Array:
        """The results by row; a single one where no resource has the attribute."""
        column = view.pool.column(self.name)
        if column is None:
            return np.asarray(self._function(UNDEFINED))
        quiet = view.quiet(self.name)
        codes = view.codes(column)
        if quiet is not None:
            return np.where(codes == 0, self._function(UNDEFINED), self._function(quiet))
        if column.generation != self._generation:
            self._generation, self._found = column.generation, []
        if len(self._found) < len(column.values):
            self._found += [self._function(value) for value in column.values[len(self._found) :]]
            self._array = np.array(self._found)
        return self._array[codes]


class JobSlots:
    """Most CPUs that one job may have at each resource (CB-TAG-03), UNLIMITED where nothing limits it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tagged = ByValue(TAGS, lambda tags: any(slots(tags, pattern)))
        self._published = ByValue(
            "gluecepolicymaxslotsperjob",
            lambda limit: limit if type(limit) is int and 0 < limit < UNLIMITED else UNLIMITED,
        )
        self._state = (-1, 0)
        self._rows: Counts = np.zeros(0, np.int64)
        self._ignored: dict[int, str] = {}

    def rows(self, view: View) -> Counts:
        """By row; one for all where nothing is limited."""
        if self._state != view.state:
            self._state = view.state
            self._rows = self._found(view)
        return self._rows

    def at(self, view: View, row: int) -> int:
        """At one row."""
        rows = self.rows(view)
        return int(rows[row] if rows.ndim else rows)

    def ignored(self, view: View, row: int) -> str:
        """The limit of the queue of one row that is no positive number, as it is written (CB-TAG-04)."""
        self.rows(view)
        return self._ignored.get(row, "")

    def _found(self, view: View) -> Counts:
        self._ignored.clear()
        limits = self._published.rows(view)
        tagged = np.broadcast_to(self._tagged.rows(view), view.size)
        if not tagged.any():
            return limits
        limits = np.array(np.broadcast_to(limits, view.size))
        for row in np.flatnonzero(tagged).tolist():
            limits[row] = self._limit(view, row)
        return limits

    def _limit(self, view: View, row: int) -> int:
        def value_of(name: str) -> Any:
            return view.pool.value(row, name)

        queue = queue_name(value_of)
        for name, count in slots(value_of(TAGS), self._pattern):
            if name == queue and not is_count(count):
                self._ignored[row] = count
        found = slots_limit(value_of, self._pattern)
        return UNLIMITED if found is None else found
