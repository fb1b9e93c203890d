"""Jobs that fix their components: a place for each (CB-SET-11)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from broker_core.matching.sets import SearchTrace
from broker_core.matching.sets.components import Assignment, FixedComponent, assign
from broker_core.matching.sets.trace import read

IDS = ("a", "b", "c")


def component(cpus: int, **rank: float) -> FixedComponent:
    """A component that may be at the named computing elements."""
    places = np.array([IDS.index(name) for name in rank], dtype=np.int64)
    return FixedComponent(cpus, places, np.array(list(rank.values()), dtype=np.float64))


def named(found: Sequence[Assignment]) -> list[str]:
    return ["".join(IDS[place] for place in one.places) for one in found]


def free(*counts: int) -> np.ndarray:
    return np.array(counts, dtype=np.int64)


def test_two_components_share_what_can_hold_both_and_fewer_places_come_first() -> None:
    components = [component(5, a=1, b=9), component(5, a=1, b=9)]
    assert named(assign(IDS, free(10, 5, 0), components)) == ["aa", "ba"]


def test_a_place_too_small_for_both_takes_one() -> None:
    components = [component(5, a=1, b=9), component(4, a=1, b=9)]
    assert named(assign(IDS, free(8, 8, 0), components)) == ["ba"]
    assert assign(IDS, free(8, 8, 0), components, max_ces=1) == []


def test_each_component_goes_where_its_own_requirements_hold() -> None:
    components = [component(2, a=1), component(3, b=4)]
    (found,) = assign(IDS, free(9, 9, 9), components)
    assert named([found]) == ["ab"]
    assert found.rank == pytest.approx((2 * 1 + 3 * 4) / 5)
    assert found.ces == (0, 1)
    assert found.calculation == "(2 × 1 + 3 × 4) / 5 = 2.8"


def test_equal_components_at_one_place_are_one_term_of_the_calculation() -> None:
    alike, other = component(2, a=1, b=4), component(1, a=3, b=3)
    trace = SearchTrace()
    best, *_ = assign(IDS, free(9, 4, 0), [alike, alike, other], max_ces=2, trace=trace)
    assert best.shares == (5,)
    assert best.calculation == "(4 × 1 + 1 × 3) / 5 = 1.4"
    steps = read(trace.lines)
    assert steps[0].values["mode"] == "components"
    assert next(step.ces for step in steps if step.kind == "matched") == ("a",)


def test_of_equally_many_places_the_higher_weighted_rank_comes_first() -> None:
    components = [component(4, a=1, b=2, c=3), component(1, a=5, b=2, c=1)]
    found = assign(IDS, free(4, 4, 4), components)
    assert named(found)[0] == "ca"
    ranks = [one.rank for one in found]
    assert ranks == sorted(ranks, reverse=True)


def test_a_component_without_a_rank_somewhere_is_placed_there_last() -> None:
    found = assign(IDS, free(4, 4, 0), [component(4, a=float("nan"), b=-9)])
    assert named(found) == ["b", "a"]
    assert found[1].rank is None


def test_no_place_for_one_is_no_place_for_the_job() -> None:
    assert assign(IDS, free(9, 9, 9), [component(2, a=1), component(10, a=1, b=1, c=1)]) == []
    assert assign(IDS, free(9, 9, 9), [component(2, a=1), component(1)]) == []


def exhaustive(
    usable: np.ndarray, components: Sequence[FixedComponent], most: int
) -> dict[frozenset[int], float]:
    """Set of computing elements to its best weighted rank; -inf for none."""
    ranks = [dict(zip(one.places.tolist(), one.rank.tolist(), strict=True)) for one in components]
    best: dict[frozenset[int], float] = {}
    for places in product(*(one.places.tolist() for one in components)):
        load: Counter[int] = Counter()
        for one, place in zip(components, places, strict=True):
            load[place] += one.cpus
        if len(load) > most or any(count > usable[place] for place, count in load.items()):
            continue
        weighted = sum(
            one.cpus * known[place] for one, known, place in zip(components, ranks, places, strict=True)
        )
        rank = weighted / sum(one.cpus for one in components)
        key = frozenset(places)
        best[key] = max(best.get(key, -np.inf), rank if rank == rank else -np.inf)
    return best


def test_the_search_finds_what_trying_everything_finds(soak: bool) -> None:
    random_ = random.Random(7)
    for _ in range(20_000 if soak else 1_500):
        count = random_.randrange(6)
        usable = free(*(random_.randrange(12) for _ in range(count)))
        kinds = [_any_component(random_, count) for _ in range(random_.randrange(1, 4))]
        components = [random_.choice(kinds) for _ in range(random_.randrange(1, 5))]
        most = random_.randrange(1, 5)
        found = assign([f"c{place}" for place in range(count)], usable, components, max_ces=most)
        expected = exhaustive(usable, components, most)
        assert {
            frozenset(one.places): -np.inf if one.rank is None else one.rank for one in found
        } == pytest.approx(expected)
        assert [len(one.ces) for one in found] == sorted(len(one.ces) for one in found)


def _any_component(random_: random.Random, count: int) -> FixedComponent:
    places = sorted(random_.sample(range(count), random_.randrange(count + 1)))
    ranks = [random_.choice((1.0, 2.0, 3.5, float("nan"))) for _ in places]
    return FixedComponent(random_.randrange(1, 6), np.array(places, dtype=np.int64), np.array(ranks))


def test_very_many_components_over_very_many_places_are_placed_without_trying_all() -> None:
    count = 2_000
    ranks = np.arange(count, dtype=np.float64)
    one = FixedComponent(1, np.arange(count), ranks)
    found = assign([f"c{place:04}" for place in range(count)], np.full(count, 300), [one] * 1000)
    assert found
    assert all(len(group.ces) == 4 for group in found)
    assert Counter(found[0].places)[count - 1] == 300
