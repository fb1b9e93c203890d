"""Places for the components of a job that fixes them itself (CB-SET-11)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from broker_core.matching.sets.find import MAX_CES, MAX_GROUPS
from broker_core.matching.sets.group import Counts, Ranks
from broker_core.matching.sets.placing import Placing

PLACES_MAX = 100_000
"""Places looked at in all assignments of one search together: a job of very many components gets fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """What one component asks for; equal components are best given as one object."""

    cpus: int
    places: npt.NDArray[np.int64]
    """Positions of the computing elements that meet its own requirements and the job's."""
    rank: Ranks
    """Its own Rank, else the job's, at each of `places`; nan: none."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A place for each component."""

    places: tuple[int, ...]
    """Position of the computing element of each component, in the order of the components."""
    rank: float | None
    """The components' ranks at their places, weighted by their CPUs; None if one has none."""

    @property
    def ces(self) -> tuple[int, ...]:
        """The different computing elements, in the order of the components."""
        return tuple(dict.fromkeys(self.places))


def assign(
    ids: Sequence[str],
    usable: Counts,
    components: Sequence[Component],
    *,
    max_ces: int = MAX_CES,
    max_groups: int = MAX_GROUPS,
) -> list[Assignment]:
    """Assignments of components to computing elements, best first.

    `ids` and `usable` (CPUs that one job may use there) are by computing element. Several components may
    share one that can hold them all. Fewer different computing elements come first, then the higher weighted
    rank, then the names; of each set of computing elements the best assignment found is listed.
    """
    placing = Placing(ids, usable, components)
    different = {id(one): one for one in components}
    known = {
        key: dict(zip(one.places.tolist(), one.rank.tolist(), strict=True)) for key, one in different.items()
    }
    ranks = [known[id(one)] for one in components]
    most = max(1, PLACES_MAX // max(1, len(components)))
    best: dict[frozenset[int], Assignment] = {}
    for count in range(1, min(max_ces, len(components)) + 1):
        if len(best) >= max_groups:
            break
        for places in islice(placing.assignments(count), min(max_groups, most)):
            found = Assignment(places, _rank(components, ranks, places))
            before = best.get(frozenset(places))
            if before is None or _lowered(found) < _lowered(before):
                best[frozenset(places)] = found
    ordered = sorted(
        best.values(), key=lambda one: (len(one.ces), _lowered(one), sorted(ids[ce] for ce in one.ces))
    )
    return ordered[:max_groups]


def _rank(
    components: Sequence[Component], ranks: Sequence[dict[int, float]], places: Sequence[int]
) -> float | None:
    """Σ CPUs · rank / Σ CPUs."""
    weighted = sum(
        one.cpus * known[place] for one, known, place in zip(components, ranks, places, strict=True)
    )
    return None if math.isnan(weighted) else weighted / sum(one.cpus for one in components)


def _lowered(one: Assignment) -> float:
    return math.inf if one.rank is None else -one.rank
