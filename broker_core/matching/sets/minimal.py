"""Mode `minimal`: every smallest group (CB-SET-03, CB-SET-09)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from broker_core.matching.sets.completion import Completion
from broker_core.matching.sets.group import Counts, Group, Ranks, group_of, in_order
from broker_core.matching.sets.trace import Trace

Members = tuple[int, ...]


def minimal(
    ids: Sequence[str], free: Counts, rank: Ranks, need: int, max_ces: int, max_groups: int, trace: Trace
) -> list[Group]:
    """Groups of 1, 2, 3 ... members, each without a member to spare; at most `max_groups` in the order of
    the members' ranks."""
    preferred = by_rank(ids, free, rank)
    trace.suitable(preferred.tolist(), free, rank)
    alone = preferred[free[preferred] >= need][:max_groups]
    groups = [group_of((int(one),), free, rank) for one in alone]
    trace.matched(groups)
    small = preferred[(free[preferred] < need) & (free[preferred] > 0)]
    if len(small) and len(groups) < max_groups:
        search = _Search(free[small], need)
        for size in range(2, min(max_ces, len(small)) + 1):
            found = islice(search.groups(size), max_groups - len(groups))
            new = [group_of([int(small[one]) for one in members], free, rank) for members in found]
            trace.matched(new)
            groups += new
    return in_order(groups, ids, need)


def by_rank(ids: Sequence[str], free: Counts, rank: Ranks) -> NDArray[np.int64]:
    """Positions with free CPUs by rank, the highest first, then by name; those without a rank last."""
    named = np.array(by_name(ids, free), dtype=np.int64)
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

    def __init__(self, free: Counts, need: int) -> None:
        self._free = free
        self._need = need
        self._places = np.arange(len(free))
        self._completion = Completion(free, need)

    def groups(self, size: int) -> Iterator[Members]:
        """The smallest groups of `size` members, one after the other."""
        return self._extended((), 0, 0, self._need, size)

    def _extended(
        self, members: Members, start: int, cpus: int, smallest: int, missing: int
    ) -> Iterator[Members]:
        if missing == 1:
            lacking = self._need - cpus
            rest = self._free[start:]
            for last in np.flatnonzero((rest >= lacking) & (rest < lacking + smallest)).tolist():
                yield (*members, start + last)
            return
        limits = self._completion.limits(missing, cpus, smallest)
        places = self._places[start:]
        for place in places[limits[self._completion.value_of[start:]] > places].tolist():
            count = int(self._free[place])
            yield from self._extended(
                (*members, place), place + 1, cpus + count, min(smallest, count), missing - 1
            )
