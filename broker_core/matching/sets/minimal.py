"""Mode `minimal`: every smallest group (CB-SET-03, CB-SET-09)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from broker_core.matching.sets.completion import Completion, blocks
from broker_core.matching.sets.group import Counts, Group, Ranks, groups_of
from broker_core.matching.sets.trace import SearchTrace

Places = NDArray[np.int64]


def minimal(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
) -> list[Group]:
    """Groups of 1, 2, 3 ... members, each without a member to spare; at most `max_groups` in the order of
    the members' ranks."""
    preferred = by_rank(ids, free, rank)
    trace.suitable(preferred.tolist(), free, rank)
    groups = _listed(preferred[free[preferred] >= need][:max_groups, None], ids, free, rank, trace)
    small = preferred[free[preferred] < need]
    search = _Search(free[small], need)
    for size in range(2, min(max_ces, len(small)) + 1):
        if len(groups) >= max_groups:
            break
        found = search.groups(size, max_groups - len(groups))
        groups += _listed(small[found], ids, free, rank, trace)
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

    def __init__(self, free: Counts, need: int) -> None:
        self._free = free
        self._need = need
        self._completion = Completion(free, need)
        self._value_of: list[int] = free.tolist()

    def groups(self, size: int, most: int) -> Places:
        """The first smallest groups of `size` members, a row for each."""
        rows: list[Places] = []
        left = most
        for members, last in self._extended((), 0, 0, self._need, size):
            taken = last[:left]
            rows.append(np.column_stack((np.tile(np.array(members, np.int64), (len(taken), 1)), taken)))
            left -= len(taken)
            if not left:
                break
        return np.concatenate(rows) if rows else np.zeros((0, size), np.int64)

    def _extended(
        self, members: tuple[int, ...], start: int, cpus: int, smallest: int, missing: int
    ) -> Iterator[tuple[tuple[int, ...], Places]]:
        """All but the last member, and the last ones that go with them."""
        if missing == 1:
            lacking = self._need - cpus
            for first, rest in blocks(self._free, start, len(self._free)):
                last = np.flatnonzero((rest >= lacking) & (rest < lacking + smallest))
                if len(last):
                    yield members, last + first
            return
        for place in self._completion.places(start, len(self._free), missing, cpus, smallest):
            count = self._value_of[place]
            yield from self._extended(
                (*members, place), place + 1, cpus + count, min(smallest, count), missing - 1
            )
