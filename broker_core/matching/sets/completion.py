"""Whether a partial group can still become a smallest group, without trying.

A group with enough CPUs is a smallest one if it has not enough without its smallest member. Whether a
partial group can become one therefore depends on three numbers only, its CPUs, its smallest member and how
many members are missing, and on how far behind the list of computing elements the search may still go. The
search asks here before each step, so that every step it takes leads to a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from broker_core.matching.sets.group import Counts

Places = NDArray[np.int64]
"""Positions in the list; -1: nowhere."""
Flags = NDArray[np.bool_]
NOWHERE = -1
BLOCK = 2048
"""Positions that are looked at at once: often the first ones already lead to enough groups."""
LAZY, MANY = 4, 400
"""From so many missing members on, or one less where there are more values than `MANY`, each value is looked
into only when it is met."""
REMEMBERED = 2_000_000
"""Limits that are remembered at once."""


class Completion:
    """Answers about the end of one list of free CPUs, each of them above 0 and below the need."""

    def __init__(self, free: Counts, need: int) -> None:
        self._need = need
        self._span = len(free) + 1
        self.values: Counts = np.unique(free)
        """The different numbers of free CPUs, ascending."""
        self.value_of: Places = np.searchsorted(self.values, free)
        """By position: its number's index in `values`."""
        self._occurrences = np.sort(self.value_of * self._span + np.arange(len(free)))
        self._furthest = _range_maxima(self._last_of_each())
        self._counts: list[int] = free.tolist()
        self._lazy = LAZY - (len(self.values) > MANY)
        self._known: dict[tuple[int, int, int], int] = {}
        self._limits_of: dict[tuple[int, int, int], Places] = {}

    def places(
        self, start: int, end: int, missing: int, cpus: int, smallest: int, may: Flags | None = None
    ) -> Iterator[int]:
        """Positions from `start` to `end` with a member that leads to a group, of the `missing` ones; where
        `may` is given, only those at which it is true. What is left out then can end it without a group."""
        if missing >= self._lazy:
            limit = cache(partial(self._limit, missing, cpus, smallest))
            for place, count in enumerate(self._counts[start:end], start):
                if limit(count) > place and (may is None or may[place]):
                    yield place
            return
        limits = self._limits(missing, cpus, smallest)
        for first, values in blocks(self.value_of, start, end):
            reach = limits[values]
            leading = reach > np.arange(first, first + len(values))
            if may is not None:
                leading &= may[first : first + len(values)]
            yield from (np.flatnonzero(leading) + first).tolist()

    def _limit(self, missing: int, cpus: int, smallest: int, value: int) -> int:
        """The next member, of so many CPUs, must lie before this position, so that the `missing` - 1 members
        after it can be found behind it."""
        joined = cpus + value
        if joined >= self._need or joined + (missing - 1) * int(self.values[-1]) < self._need:
            return NOWHERE
        return self._remembered(missing - 1, joined, min(smallest, value))

    def _limits(self, missing: int, cpus: int, smallest: int) -> Places:
        """`_limit` for each of `values`."""
        key = (missing, cpus, smallest)
        found = self._limits_of.get(key)
        if found is None:
            found = self._worked_out(missing, cpus, smallest)
            self._make_room(1)
            self._limits_of[key] = found
        return found

    def _make_room(self, more: int) -> None:
        if (len(self._limits_of) + more) * len(self.values) > REMEMBERED:
            self._limits_of.clear()

    def _worked_out(self, missing: int, cpus: int, smallest: int) -> Places:
        joined = cpus + self.values
        least = np.minimum(self.values, smallest)
        found = np.full(len(self.values), NOWHERE)
        open_ = (joined < self._need) & (joined + (missing - 1) * self.values[-1] >= self._need)
        found[open_] = self._furthest_start(missing - 1, joined[open_], least[open_])
        return found

    def _furthest_start(self, missing: int, cpus: Counts, smallest: Counts) -> Places:
        """For each partial group: the furthest position at which its next member may lie."""
        if missing == 1:
            return self._furthest_last(cpus, smallest)
        if missing == 2:
            return self._furthest_pair(cpus, smallest)
        pairs = zip(cpus.tolist(), smallest.tolist(), strict=True)
        return np.array([self._remembered(missing, *one) for one in pairs], dtype=np.int64)

    def _remembered(self, missing: int, cpus: int, smallest: int) -> int:
        key = (missing, cpus, smallest)
        found = self._known.get(key)
        if found is None:
            before = self._before(np.arange(len(self.values)), self._limits(missing, cpus, smallest))
            found = self._known[key] = int(before.max())
        return found

    def _furthest_pair(self, cpus: Counts, smallest: Counts) -> Places:
        joined = cpus[:, None] + self.values
        least = np.minimum(smallest[:, None], self.values)
        last = self._furthest_last(joined, least)
        last[joined >= self._need] = NOWHERE
        # The search asks for these next, for one partial group after the other.
        self._make_room(len(cpus))
        keys = zip(repeat(2), cpus.tolist(), smallest.tolist(), strict=False)
        self._limits_of.update(zip(keys, last, strict=True))
        found: Places = self._before(np.arange(len(self.values)), last).max(axis=1)
        return found

    def _furthest_last(self, cpus: Counts, smallest: Counts) -> Places:
        """The last member has at least what is lacking, and so little that none of the others is spare."""
        lacking = self._need - cpus
        first = np.searchsorted(self.values, lacking)
        end = np.searchsorted(self.values, lacking + smallest)
        width = np.maximum(end - first, 1)
        level = np.frexp(width)[1] - 1
        top = len(self.values) - 1
        found = np.maximum(
            self._furthest[level, np.minimum(first, top)],
            self._furthest[level, np.clip(end - (1 << level), 0, top)],
        )
        furthest: Places = np.where(end > first, found, NOWHERE)
        return furthest

    def _before(self, value: Places, position: Places) -> Places:
        """The last position before `position` at which a value (by index) stands."""
        base = value * self._span
        index = np.searchsorted(self._occurrences, base + np.maximum(position, 0)) - 1
        found = self._occurrences[np.maximum(index, 0)] - base
        before: Places = np.where((index >= 0) & (found >= 0) & (position > 0), found, NOWHERE)
        return before

    def _last_of_each(self) -> Places:
        ends = np.searchsorted(self._occurrences, (np.arange(len(self.values)) + 1) * self._span) - 1
        last: Places = self._occurrences[ends] % self._span
        return last


def blocks(array: Places, start: int, end: int) -> Iterator[tuple[int, Places]]:
    """Parts of an array, each with its own position."""
    for first in range(start, end, BLOCK):
        yield first, array[first : min(end, first + BLOCK)]


def _range_maxima(numbers: Places) -> Places:
    """Row k, column i: the largest of the 2^k numbers from i on."""
    rows = [numbers]
    while 2 ** len(rows) <= len(numbers):
        step = 2 ** (len(rows) - 1)
        shifted = np.concatenate([rows[-1][step:], np.full(step, NOWHERE)])
        rows.append(np.maximum(rows[-1], shifted))
    return np.stack(rows)
