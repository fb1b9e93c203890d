"""The pool that every match looks at, kept up to date row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from broker_core.resources.columns import Columns
from broker_core.resources.entry import Entry
from broker_core.resources.pool import Bar, Counts, Pool

_FIRST = 16
_COUNTS = ("total", "free", "running", "waiting", "own_waiting", "committed")


class Board:
    """Attributes, counts and bars of all entries; a change of one costs nothing that grows with the rest."""

    def __init__(self) -> None:
        self.pool = Pool(
            Columns(),
            total=_zeros(),
            free=_zeros(),
            running=_zeros(),
            waiting=_zeros(),
            own_waiting=_zeros(),
            updated=np.zeros(_FIRST, np.float64),
            committed=_zeros(),
        )
        self.facts = 0
        """Rises when something else than a count or a bar changed."""
        self.changes = 0
        """Rises with every change."""
        self.raised: set[int] = set()
        """Rows that can take more than when this was emptied last."""

    def describe(self, entry: Entry, values: Mapping[str, Any]) -> None:
        """Take over the attributes of an entry; gives it its row."""
        entry.row = self.pool.columns.put(entry.ce, entry.site, values)
        if entry.row >= len(self.pool.total):
            self._grow()
        self.facts += 1
        self.raised.add(entry.row)

    def count(self, entry: Entry, time: float) -> None:
        """Take over all counts of an entry, heard at `time`."""
        pool, row = self.pool, entry.row
        pool.total[row] = entry.total
        pool.running[row] = entry.running
        pool.waiting[row] = entry.waiting
        if pool.updated is not None:
            pool.updated[row] = time
        self.give(entry)

    def give(self, entry: Entry) -> None:
        """Take over what is given out of an entry."""
        pool, row = self.pool, entry.row
        free = entry.free
        if free > pool.free[row]:
            self.raised.add(row)
        pool.free[row] = free
        if pool.committed is not None and pool.own_waiting is not None:
            pool.committed[row] = entry.given
            pool.own_waiting[row] = entry.queue
        self.changes += 1

    def bar(self, entry: Entry, bar: Bar | None) -> None:
        """Bar an entry from use, or lift its bar."""
        barred = self.pool.barred
        if bar is not None:
            self.changes += barred.get(entry.row) != bar
            barred[entry.row] = bar
        elif barred.pop(entry.row, None) is not None:
            self.raised.add(entry.row)
            self.changes += 1

    def remove(self, entry: Entry) -> None:
        """Forget an entry."""
        self.pool.columns.remove(entry.ce)
        self.pool.barred.pop(entry.row, None)
        for name in _COUNTS:
            getattr(self.pool, name)[entry.row] = 0
        self.facts += 1
        self.changes += 1

    def _grow(self) -> None:
        size = 2 * len(self.pool.total)
        for name in (*_COUNTS, "updated"):
            old = getattr(self.pool, name)
            grown = np.zeros(size, old.dtype)
            grown[: len(old)] = old
            setattr(self.pool, name, grown)


def _zeros() -> Counts:
    return np.zeros(_FIRST, np.int64)
