"""The search behind non-flexible jobs: depth first, the largest component first (CB-SET-11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from broker_core.matching.sets.group import Counts, Sites

STEPS_MAX = 50_000
"""Components put somewhere in one search, at most: to fill places exactly is hard by nature."""


class ComponentRequest(Protocol):
    """What a component asks for."""

    @property
    def cpus(self) -> int:
        """CPUs on one computing element."""
        ...

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Where it could be."""
        ...

    @property
    def rank(self) -> npt.NDArray[np.float64]:
        """How much it wants to be at each of them; nan: none."""
        ...


class Placing:
    """All ways to place components, those with the highest ranks early.

    Components that are one object are placed in the order of their choices only, because to swap them
    changes nothing.
    """

    def __init__(
        self,
        ids: Sequence[str],
        usable: Counts,
        components: Sequence[ComponentRequest],
        sites: Sites | None = None,
    ) -> None:
        self._sizes = [one.cpus for one in components]
        first = {id(one): place for place, one in reversed(list(enumerate(components)))}
        self._order = sorted(
            range(len(components)), key=lambda one: (-self._sizes[one], first[id(components[one])])
        )
        different = {id(one): one for one in components}
        choices = {key: _preferred(ids, usable, one) for key, one in different.items()}
        indices = {key: {place: i for i, place in enumerate(places)} for key, places in choices.items()}
        self._choices = [choices[id(one)] for one in components]
        self._index = [indices[id(one)] for one in components]
        self._twin = [
            depth > 0 and components[one] is components[self._order[depth - 1]]
            for depth, one in enumerate(self._order)
        ]
        self._sites: Sequence[int] = range(len(ids)) if sites is None else sites.tolist()
        self._usable: list[int] = usable.tolist()
        self._most: list[int] = np.cumsum([0, *np.sort(usable)[::-1]]).tolist()
        self._ahead: list[int] = np.cumsum([0, *(self._sizes[one] for one in reversed(self._order))])[
            ::-1
        ].tolist()

    def assignments(self, count: int) -> Iterator[tuple[int, ...]]:
        """The places of the components, for each way that uses exactly `count` computing elements."""
        left = list(self._usable)
        used: Counter[int] = Counter()
        placed: list[int] = []
        waiting = [self._open(0, used, placed, count, left)]
        steps = 0
        while waiting and steps < STEPS_MAX:
            place = next(waiting[-1], None)
            if place is None:
                waiting.pop()
                if placed:
                    self._take_back(placed, used, left)
                continue
            steps += 1
            depth = len(placed)
            left[place] -= self._sizes[self._order[depth]]
            used[place] += 1
            placed.append(place)
            if len(placed) < len(self._order):
                waiting.append(self._open(len(placed), used, placed, count, left))
                continue
            yield self._by_component(placed)
            self._take_back(placed, used, left)

    def _take_back(self, placed: list[int], used: Counter[int], left: list[int]) -> None:
        place = placed.pop()
        left[place] += self._sizes[self._order[len(placed)]]
        used[place] -= 1
        if not used[place]:
            del used[place]

    def _by_component(self, placed: Sequence[int]) -> tuple[int, ...]:
        at = dict(zip(self._order, placed, strict=True))
        return tuple(at[component] for component in range(len(at)))

    def _open(
        self, depth: int, used: Counter[int], placed: Sequence[int], count: int, left: Sequence[int]
    ) -> Iterator[int]:
        """Where the next component may go; the last one must leave exactly `count` places in use."""
        new = count - len(used)
        room = sum(left[place] for place in used) + self._most[min(new, len(self._most) - 1)]
        if len(self._order) - depth < new or room < self._ahead[depth]:
            return iter(())
        component = self._order[depth]
        index, size, choices = self._index[component], self._sizes[component], self._choices[component]
        least = index[placed[-1]] if self._twin[depth] else 0
        known = sorted(index[place] for place in used if place in index and index[place] >= least)
        if not new:
            return (choices[one] for one in known if left[choices[one]] >= size)
        taken = {self._sites[place] for place in used}
        again = used if len(self._order) - depth > new else ()
        return (
            place
            for place in (choices[one] for one in range(least, len(choices)))
            if left[place] >= size and (place in again or self._sites[place] not in taken)
        )


def _preferred(ids: Sequence[str], usable: Counts, component: ComponentRequest) -> list[int]:
    """Places with enough CPUs by rank, the highest first, then by name; those without a rank last."""
    enough = usable[component.places] >= component.cpus
    places = component.places[enough].tolist()
    ranks = component.rank[enough].tolist()
    at = sorted(
        range(len(places)),
        key=lambda one: (-ranks[one] if ranks[one] == ranks[one] else float("inf"), ids[places[one]]),
    )
    return [places[one] for one in at]
