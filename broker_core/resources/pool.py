"""What one match looks at: many resources as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.jdl.syntax.tree import UNDEFINED
from broker_core.resources.column import AttributeColumn
from broker_core.resources.columns import Columns
from broker_core.resources.record import Resource
from broker_core.resources.values import ANSWERS, COUNTS, TOTALS, cased, counts, facts, idle

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a resource may not be used, although its attributes are known."""

    origin: str
    """stale, status, lock, access or policy."""
    reason: str
    """In one sentence: `not heard of for 12 minutes`."""
    now_only: bool
    """It will pass by itself."""


NO_ACCESS = Exclusion("access", "this broker has no way to send jobs there yet: add the site", now_only=False)


@dataclass(slots=True)
class Pool:
    """Resources by row; arrays have a count for each row of `columns`, at least `columns.size`.

    Whoever keeps a pool may change its arrays, bars and columns between matches; what a match has not
    worked out yet by then shows the later state.
    """

    columns: Columns
    total: Counts
    free: Counts
    """CPUs free now, after what was given out since the site last told."""
    running: Counts
    waiting: Counts
    """Jobs waiting there, as published."""
    barred: dict[int, Exclusion] = field(default_factory=dict)
    """Rows that may not be used."""
    own_waiting: Counts | None = None
    """Of those waiting, the jobs of this broker; where given, only they count for `max_site_queue`."""
    updated: npt.NDArray[np.float64] | None = None
    """When each was last heard, seconds since the epoch."""
    committed: Counts | None = None
    quiet: bool = False
    """All as if nothing ran."""
    records: Mapping[int, Resource] = field(default_factory=dict)
    """Records that the pool was made of, if it was."""
    rows: int | None = None
    """Rows of a snapshot; what became known after it is none of its own."""
    names: list[str] | None = None
    """Computing element of each row of a snapshot; a row may be another one's by now."""

    @property
    def size(self) -> int:
        """Rows to look at, empty ones included."""
        return self.columns.size if self.rows is None else self.rows

    @staticmethod
    def of(resources: Iterable[Resource]) -> Pool:
        """A pool of records; those without access are barred."""
        columns = Columns()
        records = {}
        for resource in resources:
            values = facts(resource.attributes, resource.ce, resource.site)
            records[columns.put(resource.ce, resource.site, values)] = resource
        kept = records.values()
        return Pool(
            columns,
            _counts(one.total_cpus for one in kept),
            _counts(one.free_cpus for one in kept),
            _counts(one.running for one in kept),
            _counts(one.waiting for one in kept),
            {row: NO_ACCESS for row, one in records.items() if not one.access},
            committed=_counts(one.committed for one in kept),
            updated=np.fromiter((one.updated for one in kept), np.float64),
            records=records,
        )

    def idle(self) -> Pool:
        """The same resources as if nothing ran there and nobody waited (CB-SCH-12)."""
        nothing = np.zeros_like(self.total)
        lasting = {row: bar for row, bar in self.barred.items() if not bar.now_only}
        return replace(
            self,
            free=self.total,
            running=nothing,
            waiting=nothing,
            barred=lasting,
            own_waiting=None,
            committed=None,
            quiet=True,
        )

    def snapshot(self) -> Pool:
        """The same with counts and bars of its own, for answers that are worked out bit by bit: resources
        that become known later stay out of it, attributes may still change, and some may be `gone`."""
        return replace(
            self,
            total=self.total.copy(),
            free=self.free.copy(),
            running=self.running.copy(),
            waiting=self.waiting.copy(),
            barred=dict(self.barred),
            own_waiting=None if self.own_waiting is None else self.own_waiting.copy(),
            committed=None if self.committed is None else self.committed.copy(),
            updated=None if self.updated is None else self.updated.copy(),
            rows=self.size,
            names=self.columns.ces[: self.size],
        )

    def gone(self, row: int) -> bool:
        """True if the resource of a snapshot's row is not known any more."""
        return self.names is not None and self.columns.ces[row] != self.names[row]

    def without(self, origin: str) -> Pool:
        """The same resources with bars of one origin lifted."""
        return replace(self, barred={row: bar for row, bar in self.barred.items() if bar.origin != origin})

    def count(self, name: str) -> Counts | None:
        """The array behind a lower-case name that is a count; None for other names."""
        match COUNTS.get(name, "total" if name in TOTALS else None):
            case "total":
                return self.total
            case "free":
                return self.free
            case "running":
                return self.running
            case "waiting":
                return self.waiting
            case "jobs":
                return self.running + self.waiting
        return None

    def column(self, name: str) -> AttributeColumn | None:
        """The column of a lower-case name, for all that is no count."""
        return self.columns.column(name)

    def value(self, row: int, name: str) -> Any:
        """One value of a row by lower-case name, as expressions read it."""
        column = None if name in COUNTS else self.columns.column(name)
        found = column.value(row) if column is not None else UNDEFINED
        if found is UNDEFINED:
            count = self.count(name)
            return found if count is None else int(count[row])
        return ANSWERS.get(name, found) if self.quiet else found

    def values(self, row: int) -> dict[str, Any]:
        """All values of a row by lower-case name, as expressions read them."""
        found = self._facts(row)
        total = int(self.total[row])
        found |= counts(total, int(self.free[row]), int(self.running[row]), int(self.waiting[row]))
        for name in TOTALS:
            found.setdefault(name, total)
        return found

    def resource(self, row: int) -> Resource:
        """The record of a row."""
        known = self.records.get(row)
        if known is not None:
            return idle(known) if self.quiet else known
        bar = self.barred.get(row)
        return Resource(
            self.columns.ces[row],
            self.columns.sites[row],
            int(self.total[row]),
            int(self.free[row]),
            int(self.running[row]),
            int(self.waiting[row]),
            float(self.updated[row]) if self.updated is not None else 0.0,
            cased(self._facts(row)),
            int(self.committed[row]) if self.committed is not None else 0,
            bar is None or bar.origin != NO_ACCESS.origin,
        )

    def _facts(self, row: int) -> dict[str, Any]:
        found = self.columns.values(row)
        if self.quiet:
            found |= {name: value for name, value in ANSWERS.items() if name in found}
        return found


def _counts(found: Iterable[int]) -> Counts:
    return np.fromiter(found, np.int64)
