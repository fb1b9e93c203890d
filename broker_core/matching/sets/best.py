"""The best of very many smallest groups, when the list of them is cut.

A list that is cut holds the groups that are first in the order of the members' ranks, one member after the
other; the group with the highest weighted rank may be behind the cut. It is looked for by branch and bound:
members are joined in the order of their ranks, so that whatever is still to be joined ranks no higher than
the next one. A partial group of weight w (the sum of CPUs · rank) that lacks some CPUs can therefore reach
(w + lacking · rank of the next) / need at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from broker_core.matching.sets.completion import Completion
from broker_core.matching.sets.group import Counts, Group, Ranks, Sites, elsewhere, group_of
from broker_core.matching.sets.minimal import by_rank

EFFORT = 600
"""Steps of one search; where they do not suffice, the best group met until then counts."""
STRAIGHT = 40
"""Beginnings that are followed first without turning back, so that little is left worth a look."""


def best_group(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    size: int,
    floor: float | None,
    sites: Sites | None = None,
) -> Group | None:
    """The smallest group of `size` members with the highest rank, if that is above `floor` (None: no rank).

    There must be no group with fewer members.
    """
    preferred = by_rank(ids, free, rank)
    small = preferred[free[preferred] < need]
    at = None if sites is None else sites[small]
    search = _Search(free[small], rank[small], need, -np.inf if floor is None else floor, at)
    with np.errstate(invalid="ignore"):
        search.run(size)
    return group_of(small[list(search.best)].tolist(), free, rank) if search.best else None


class _Search:
    """`free` and `rank` are in the order of rank, those without one last."""

    def __init__(self, free: Counts, rank: Ranks, need: int, floor: float, sites: Sites | None) -> None:
        self._free = free
        self._sites = sites
        self._lowered = -rank[~np.isnan(rank)]
        self._need = need
        self._completion = Completion(free, need)
        self._left = EFFORT
        self._floor = floor
        self.best: tuple[int, ...] = ()
        """Positions of the members; empty as long as none is above the floor."""

    def run(self, size: int) -> None:
        """First some good ways to a high floor, then all that can lead above it."""
        everywhere = len(self._free)
        self._deeper((), 0, 0.0, self._need, size, [STRAIGHT] + [1] * (size - 1))
        self._deeper((), 0, 0.0, self._need, size, [everywhere] * size)

    def _deeper(
        self,
        members: tuple[int, ...],
        cpus: int,
        weight: float,
        smallest: int,
        missing: int,
        widths: list[int],
    ) -> None:
        """Try as many next members as `widths` says for the length of the group."""
        start = members[-1] + 1 if members else 0
        if missing == 1:
            self._last(members, start, cpus, weight, smallest)
            return
        end = self._end(cpus, weight)
        may = elsewhere(self._sites, members)
        following = self._completion.places(start, end, missing, cpus, smallest, may)
        for place in islice(following, widths[len(members)]):
            self._left -= 1
            if self._left < 0 or place >= self._end(cpus, weight):
                return
            count = int(self._free[place])
            self._deeper(
                (*members, place),
                cpus + count,
                weight - count * float(self._lowered[place]),
                min(smallest, count),
                missing - 1,
                widths,
            )

    def _end(self, cpus: int, weight: float) -> int:
        """From here on no next member can bring the group above the floor."""
        wanted = (self._floor * self._need - weight) / (self._need - cpus)
        return int(np.searchsorted(self._lowered, -wanted))

    def _last(self, members: tuple[int, ...], start: int, cpus: int, weight: float, smallest: int) -> None:
        end = self._end(cpus, weight)
        rest, lacking = self._free[start:end], self._need - cpus
        may = elsewhere(self._sites, members)
        suits = (rest >= lacking) & (rest < lacking + smallest)
        fits = np.flatnonzero(suits if may is None else suits & may[start:end])
        if not len(fits):
            return
        counts = rest[fits]
        ranks = (weight - counts * self._lowered[start:end][fits]) / (cpus + counts)
        highest = int(ranks.argmax())
        if ranks[highest] > self._floor:
            self._floor = float(ranks[highest])
            self.best = (*members, start + int(fits[highest]))
