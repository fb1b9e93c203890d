"""The pool that every match looks at, kept up to date row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.jobs.placement import SLOT_SYSTEM, computing_element
from broker_core.resources.columns import Columns
from broker_core.resources.entry import ResourceEntry
from broker_core.resources.pool import Counts, Exclusion, Pool

_FIRST = 16
_OPEN = "production"
_NODE_CPUS = "gluehostarchitecturesmpsize"
_OVERLAY = "overlay"
_COUNTS = ("total", "free", "running", "waiting", "own_waiting", "committed")
Flags = npt.NDArray[np.bool_]


class ResourceTable:
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
        self.usable: Flags = np.zeros(_FIRST, np.bool_)
        """Rows without a bar."""
        self.barred = 0
        """Rows with a bar, as bits."""
        self.queueing: Flags = np.zeros(_FIRST, np.bool_)
        """Rows whose batch system keeps jobs of ours until they can start."""
        self.slots: Flags = np.zeros(_FIRST, np.bool_)
        """Rows that are virtual slots."""
        self.bare: Counts = _zeros()
        """Free CPUs that are not held by glideins of the broker's own."""
        self.held = 0
        """CPUs that are, of all rows together."""
        self.closed: set[int] = set()
        """Rows that do not take jobs now by their own word."""
        self.longest_queue = 0
        """No queue that counts was ever longer."""
        self.facts = 0
        """Rises when something else than a count of jobs, free CPUs or a bar is another one: after each
        answer that said so, and at once where a row became empty and can soon mean another resource."""
        self._told = False
        self.changes = 0
        """Rises with every change."""
        self.raised: set[int] = set()
        """Rows that may be able to take more than when this was emptied last."""

    def describe(self, entry: ResourceEntry, values: Mapping[str, Any]) -> None:
        """Take over the attributes of an entry; gives it its row."""
        entry.row = self.pool.columns.put(entry.ce, entry.site, values)
        if entry.row >= len(self.pool.total):
            self._grow()
        self.queueing[entry.row] = entry.account and values.get("glueceinfolrmstype", "fork") != "fork"
        self.slots[entry.row] = computing_element(entry.ce).system == SLOT_SYSTEM
        status = values.get("gluecestatestatus", _OPEN)
        (self.closed.discard if str(status).lower() == _OPEN else self.closed.add)(entry.row)
        self._told = True

    def count(self, entry: ResourceEntry) -> None:
        """Take over all counts of an entry."""
        pool, row = self.pool, entry.row
        if pool.total[row] != entry.total:
            pool.total[row] = entry.total
            self._told = True
        pool.running[row] = entry.running
        pool.waiting[row] = entry.waiting
        if pool.updated is not None:
            pool.updated[row] = entry.heard
        self.give(entry)
        self.raised.add(row)

    def tell(self) -> None:
        """Something else that descriptions ask for is another one."""
        self._told = True
        self.changes += 1

    def settle(self) -> None:
        """An answer is merged to its end."""
        self.facts += self._told
        self._told = False

    def give(self, entry: ResourceEntry) -> None:
        """Take over what is given out of an entry."""
        pool, row = self.pool, entry.row
        pool.free[row], self.bare[row] = entry.free, entry.bare
        if pool.committed is not None and pool.own_waiting is not None:
            pool.committed[row] = entry.given
            pool.own_waiting[row] = queue = entry.queue
            if queue > self.longest_queue:
                self.longest_queue = queue
        self.changes += 1

    def queue(self, entry: ResourceEntry) -> None:
        """Take over how many jobs of ours wait at an entry."""
        if self.pool.own_waiting is not None:
            self.pool.own_waiting[entry.row] = entry.queue
        if self.queueing[entry.row]:
            self.raised.add(entry.row)
        self.changes += 1

    def bar(self, entry: ResourceEntry, bar: Exclusion | None) -> None:
        """Bar an entry from use, or lift its bar."""
        barred, row = self.pool.barred, entry.row
        if bar is not None:
            if row not in barred:
                self.barred |= 1 << row
            self.usable[row] = False
            self.changes += barred.get(row) != bar
            barred[row] = bar
        elif not self.usable[row]:
            self.usable[row] = True
            if barred.pop(row, None) is not None:
                self.barred ^= 1 << row
            self.raised.add(row)
            self.changes += 1

    def remove(self, entry: ResourceEntry) -> None:
        """Forget an entry."""
        row = entry.row
        self.pool.columns.remove(entry.ce)
        if self.pool.barred.pop(row, None) is not None:
            self.barred ^= 1 << row
        self.usable[row] = False
        self.bare[row] = 0
        self.closed.discard(row)
        for name in _COUNTS:
            getattr(self.pool, name)[row] = 0
        self.facts += 1
        self.changes += 1

    def node_cpus(self, ce: str) -> int:
        """Processors of the largest node of a computing element, as published; 0: not known."""
        found = self._value(ce, _NODE_CPUS)
        return found if type(found) is int and found > 0 else 0

    def overlay_answer(self, ce: str) -> str:
        """What a test job said of the networks of programs there; empty: nothing is known."""
        found = self._value(ce, _OVERLAY)
        return found if isinstance(found, str) else ""

    def _value(self, ce: str, name: str) -> Any:
        row = self.pool.columns.row_of(ce)
        return None if row is None else self.pool.value(row, name)

    def _grow(self) -> None:
        for name in (*_COUNTS, "updated"):
            setattr(self.pool, name, _doubled(getattr(self.pool, name)))
        self.usable = _doubled(self.usable)
        self.bare = _doubled(self.bare)
        self.queueing = _doubled(self.queueing)
        self.slots = _doubled(self.slots)


def _zeros() -> Counts:
    return np.zeros(_FIRST, np.int64)


def _doubled(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    grown = np.zeros(2 * len(column), column.dtype)
    grown[: len(column)] = column
    return grown
