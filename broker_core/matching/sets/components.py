"""Places for the components of a job that fixes them itself (CB-SET-11)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from broker_core.matching.sets.find import MAX_CES, MAX_GROUPS
from broker_core.matching.sets.group import Counts, Group, Ranks, Sites, calculation
from broker_core.matching.sets.placing import Placing
from broker_core.matching.sets.trace import SearchTrace

PLACES_MAX = 100_000
"""Places looked at in all assignments of one search together: a job of very many components gets fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class FixedComponent:
    """What one component asks for; equal components are best given as one object."""

    cpus: int
    places: npt.NDArray[np.int64]
    """Positions of the computing elements that meet its own requirements and the job's."""
    rank: Ranks
    """Its own Rank, else the job's, at each of `places`; nan: none."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A place for each component; the tuples are in the order of the components."""

    places: tuple[int, ...]
    """Position of its computing element."""
    cpus: tuple[int, ...]
    ranks: tuple[float | None, ...]
    """Its rank there."""
    rank: float | None
    """The ranks weighted by the CPUs; None if one has none."""

    @property
    def ces(self) -> tuple[int, ...]:
        """The different computing elements, in the order of the components."""
        return tuple(dict.fromkeys(self.places))

    @property
    def shares(self) -> tuple[int, ...]:
        """CPUs at each of `ces`."""
        given: Counter[int] = Counter()
        for place, cpus in zip(self.places, self.cpus, strict=True):
            given[place] += cpus
        return tuple(given[place] for place in self.ces)

    @property
    def calculation(self) -> str:
        """How the rank was made; equal components at one place are one term."""
        terms: Counter[tuple[int, float | None]] = Counter()
        for place, cpus, rank in zip(self.places, self.cpus, self.ranks, strict=True):
            terms[place, rank] += cpus
        return calculation(list(terms.values()), [rank for _, rank in terms], self.rank)


def assign(
    ids: Sequence[str],
    usable: Counts,
    components: Sequence[FixedComponent],
    *,
    max_ces: int = MAX_CES,
    max_groups: int = MAX_GROUPS,
    trace: SearchTrace | None = None,
    sites: Sites | None = None,
) -> list[Assignment]:
    """Assignments of components to computing elements, best first.

    `ids` and `usable` (CPUs that one job may use there) are by computing element. Several components may
    share one that can hold them all; others of its site have none then (`sites`, see `find`). Fewer different
    computing elements come first, then the higher weighted rank, then the names; of each set of computing
    elements the best assignment found is listed.
    """
    told = trace if trace is not None else SearchTrace(kept=False)
    told.ids = ids
    told.begin("components", sum(one.cpus for one in components), max_ces, max_groups, len(ids))
    most = min(max_groups, max(1, PLACES_MAX // len(components)))
    search = _Assigning(Placing(ids, usable, components, sites), components, most)
    best: dict[frozenset[int], Assignment] = {}
    for count in range(1, min(max_ces, len(components)) + 1):
        if len(best) < max_groups:
            best |= search.best(count)
    ordered = sorted(
        best.values(), key=lambda one: (len(one.ces), _lowered(one), sorted(ids[ce] for ce in one.ces))
    )[:max_groups]
    told.matched(Group(one.ces, one.rank, int(usable[list(one.ces)].sum())) for one in ordered)
    told.end(len(ordered))
    return ordered


class _Assigning:
    """The best assignments to a number of computing elements, of the first `most` that are found."""

    def __init__(self, placing: Placing, components: Sequence[FixedComponent], most: int) -> None:
        self._placing = placing
        self._cpus = tuple(one.cpus for one in components)
        different = {id(one): one for one in components}
        known = {
            key: dict(zip(one.places.tolist(), one.rank.tolist(), strict=True))
            for key, one in different.items()
        }
        self._ranks = [known[id(one)] for one in components]
        self._most = most

    def best(self, count: int) -> dict[frozenset[int], Assignment]:
        """The best assignment for each set of `count` computing elements."""
        best: dict[frozenset[int], Assignment] = {}
        for places in islice(self._placing.assignments(count), self._most):
            found = self._assignment(places)
            before = best.get(frozenset(places))
            if before is None or _lowered(found) < _lowered(before):
                best[frozenset(places)] = found
        return best

    def _assignment(self, places: tuple[int, ...]) -> Assignment:
        ranks = [known[place] for known, place in zip(self._ranks, places, strict=True)]
        weighted = sum(cpus * rank for cpus, rank in zip(self._cpus, ranks, strict=True))
        mean = None if math.isnan(weighted) else weighted / sum(self._cpus)
        return Assignment(
            places, self._cpus, tuple(None if math.isnan(rank) else rank for rank in ranks), mean
        )


def _lowered(one: Assignment) -> float:
    return math.inf if one.rank is None else -one.rank
