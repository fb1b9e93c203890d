"""Mode `minimal`: every smallest group (CB-SET-03, CB-SET-09)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from broker_core.matching.sets.completion import Completion, blocks
from broker_core.matching.sets.group import (
    Counts,
    Group,
    Ranks,
    Sites,
    elsewhere,
    groups_of,
    largest_of_each,
)
from broker_core.matching.sets.trace import SearchTrace

Places = NDArray[np.int64]
DEAD_ENDS = 1000
"""Partial groups in one search that only computing elements of their own sites could complete: after so many,
no more are looked at."""


def minimal(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
    sites: Sites | None = None,
) -> list[Group]:
    """Groups of 1, 2, 3 ... members, each without a member to spare; at most `max_groups` in the order of
    the members' ranks.

    A group with members of different sites contains only such groups. If there is any, one is found.
    """
    preferred = by_rank(ids, free, rank)
    trace.suitable(preferred.tolist(), free, rank)
    groups = _listed(preferred[free[preferred] >= need][:max_groups, None], ids, free, rank, trace)
    small = preferred[free[preferred] < need]
    search = _Search(free[small], need, None if sites is None else sites[small])
    for size in range(2, min(max_ces, len(small)) + 1):
        if len(groups) >= max_groups:
            break
        found = search.groups(size, max_groups - len(groups))
        groups += _listed(small[found], ids, free, rank, trace)
    if search.limited:
        trace.limit(DEAD_ENDS)
    return groups


def _listed(
    members: Places, ids: Sequence[str], free: Counts, rank: Ranks, trace: SearchTrace
) -> list[Group]:
    """Groups of one size in the order to be tried: the higher rank first, then the smaller surplus, then the
    names (CB-SCH-05a)."""
    found = groups_of(members, free, rank)
    trace.matched(found)
    return sorted(
        found,
        key=lambda one: (
            math.inf if one.rank is None else -one.rank,
            one.free,
            sorted(ids[member] for member in one.members),
        ),
    )


def by_rank(ids: Sequence[str], free: Counts, rank: Ranks) -> Places:
    """Positions with free CPUs by rank, the highest first, then by name; those without a rank last."""
    return ranked(np.array(by_name(ids, free), dtype=np.int64), rank)


def ranked(named: Places, rank: Ranks) -> Places:
    """Positions that stand by name, by rank, the highest first; those without a rank last."""
    lowered = np.where(np.isnan(rank[named]), np.inf, -rank[named])
    return named[np.argsort(lowered, kind="stable")]


def by_name(ids: Sequence[str], free: Counts) -> list[int]:
    """Positions by name; one without a free CPU can give a set nothing (CB-SET-12)."""
    return sorted(np.flatnonzero(free > 0).tolist(), key=ids.__getitem__)


class _Search:
    """Goes through the list once for each size, in lexicographic order, and never into a dead end.

    `free` holds numbers below the need only. That a group contains no smaller one is told by its sum: see
    `completion`; no group is ever compared with another.
    """

    def __init__(self, free: Counts, need: int, sites: Sites | None) -> None:
        self._free = free
        self._need = need
        self._sites = sites
        self._largest = np.zeros(0, np.int64) if sites is None else largest_of_each(sites, free)
        self._dead_ends = 0
        self._completion = Completion(free, need)
        self._value_of: list[int] = free.tolist()

    @property
    def limited(self) -> bool:
        """Not all groups were looked at."""
        return self._dead_ends > DEAD_ENDS

    def groups(self, size: int, most: int) -> Places:
        """The first smallest groups of `size` members, a row for each."""
        largest = self._largest[:size]
        if self._sites is not None and (len(largest) < size or self._free[largest].sum() < self._need):
            return np.zeros((0, size), np.int64)
        rows: list[tuple[int, ...]] = []
        for members, last in self._extended((), 0, 0, self._need, size):
            rows += [(*members, one) for one in last[: most - len(rows)].tolist()]
            if len(rows) == most:
                break
        if self.limited and not rows and self._free[largest[:-1]].sum() < self._need:
            return np.sort(largest)[None, :]
        return np.array(rows, np.int64).reshape(-1, size)

    def _extended(
        self, members: tuple[int, ...], start: int, cpus: int, smallest: int, missing: int
    ) -> Iterator[tuple[tuple[int, ...], Places]]:
        """All but the last member, and the last ones that go with them."""
        may, dead_end = elsewhere(self._sites, members), True
        if missing == 1:
            lacking = self._need - cpus
            for first, rest in blocks(self._free, start, len(self._free)):
                fits = (rest >= lacking) & (rest < lacking + smallest)
                last = np.flatnonzero(fits if may is None else fits & may[first : first + len(rest)])
                if len(last):
                    dead_end = False
                    yield members, last + first
            self._dead_ends += dead_end
            return
        for place in self._completion.places(start, len(self._free), missing, cpus, smallest, may):
            if self.limited:
                return
            dead_end = False
            count = self._value_of[place]
            yield from self._extended(
                (*members, place), place + 1, cpus + count, min(smallest, count), missing - 1
            )
        self._dead_ends += dead_end
