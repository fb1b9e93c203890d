"""Queues of one site are queues for the same processors: no set has two of them."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.matching.report import report
from broker_core.matching.sets import MODES, SearchTrace, find
from broker_core.matching.sets.collective import fulfilling
from broker_core.matching.sets.components import FixedComponent, assign
from broker_core.matching.sets.trace import read
from broker_core.resources.record import Resource
from tests.matching.made import job
from tests.matching_sets import naive
from tests.matching_sets.pools import Pool, of, small

CASES = 600


def apart(sites: np.ndarray, members: tuple[int, ...]) -> bool:
    return len({int(sites[one]) for one in members}) == len(members)


def drawn(random_: random.Random) -> tuple[Pool, np.ndarray, int]:
    """A pool, its sites, and the CPUs wanted."""
    pool = small(random_, 9)
    sites = np.array([random_.randrange(random_.choice((2, 4, 9))) for _ in pool.ids], np.int64)
    return pool, sites, random_.randrange(1, 40)


def test_the_smallest_sets_are_those_of_the_exhaustive_search_with_every_member_at_another_site() -> None:
    random_ = random.Random(11)
    for _ in range(CASES):
        pool, sites, need = drawn(random_)
        every = naive.minimal(pool, need, 5, 10**9)
        found = pool.find(need, max_ces=5, sites=sites)
        assert sorted(one.members for one in found) == sorted(one for one in every if apart(sites, one))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("most", [3, 1000])
def test_no_mode_joins_two_queues_of_one_site_and_none_misses_all_sets(mode: str, most: int) -> None:
    random_ = random.Random(12)
    for _ in range(CASES):
        pool, sites, need = drawn(random_)
        found = pool.find(need, mode, max_ces=9, max_groups=most, best=True, sites=sites)
        assert all(apart(sites, one.members) and one.free >= need for one in found)
        there = any(apart(sites, one) for one in naive.minimal(pool, need, 9, 10**9))
        assert bool(found) is there or mode != "minimal"


def test_sets_by_a_condition_are_tried_in_the_same_order_without_those_of_one_site() -> None:
    random_ = random.Random(13)
    for _ in range(CASES // 4):
        pool, sites, _ = drawn(random_)
        seen: list[tuple[int, ...]] = []

        def holds(members: tuple[int, ...], seen: list[tuple[int, ...]] = seen) -> bool:
            seen.append(members)
            return False

        named = np.arange(len(pool.ids))
        steps = SearchTrace(kept=False)
        fulfilling(named, pool.free, pool.rank, 1, holds, 3, 1000, steps)
        every = list(seen)
        seen.clear()
        fulfilling(named, pool.free, pool.rank, 1, holds, 3, 1000, steps, sites)
        assert seen == [one for one in every if apart(sites, one)]


def test_components_share_a_queue_but_not_a_site() -> None:
    ids, usable, sites = ("a1", "a2", "b"), np.array((4, 4, 4)), np.array((0, 0, 1))
    there = np.arange(3)
    two = [FixedComponent(2, there, np.zeros(3)), FixedComponent(2, there, np.zeros(3))]
    found = assign(ids, usable, two, sites=sites)
    assert sorted({frozenset(ids[place] for place in one.places) for one in found}, key=sorted) == [
        {"a1"}, {"a1", "b"}, {"a2"}, {"a2", "b"}, {"b"},
    ]  # fmt: skip


def test_a_search_that_sites_lead_into_dead_ends_is_cut_and_still_finds_a_set_if_there_is_one() -> None:
    """No three of these are at three sites but with the very last one, which goes with few pairs."""
    count = 400
    free = [*range(301, 301 + count), 400]
    pool = of([f"c{place:03}" for place in range(count + 1)], free, [1.0] * count + [0.0])
    sites = np.array([place % 2 for place in range(count)] + [2], np.int64)
    trace = SearchTrace()
    need = int(pool.free[-3:].sum())
    found = find(pool.ids, pool.free, pool.rank, need, sites=sites, trace=trace)
    assert [one.members for one in found] == [(count - 2, count - 1, count)]
    assert [step.kind for step in read(trace.lines)][-2:] == ["limit", "end"]
    assert find(pool.ids, pool.free, pool.rank, need + 1, max_ces=3, sites=sites) == []


ABLE = {
    "GlueHostApplicationSoftwareRunTimeEnvironment": ["MPICH-G2"],
    "GlueHostNetworkAdapterInboundIP": True,
}
WANTED = 'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 6;'


def queues(*names: str) -> Matches:
    """Queues of four CPUs; the first letter is their site."""
    made = [Resource(f"{name}:22/jobmanager-slurm-q", name[0], 4, 4, 0, 0, 0.0, ABLE) for name in names]
    return match(job(WANTED), made, context=Context(assume_abilities=True))


def test_two_queues_of_one_site_are_no_set_and_the_advice_says_what_counts() -> None:
    found = queues("a1", "a2")
    assert (len(found.candidates), found.groups, found.feasible) == (2, (), False)
    assert found.analysis == "2 of 2 known resources match, but no set of them is enough now."
    assert found.advice == (
        "2 of 2 match, but no set of at most 4 has 6 free CPUs;"
        " with one queue of each site, all together have 4."
    )


def test_every_queue_of_a_site_goes_with_those_of_others() -> None:
    found = queues("a1", "a2", "b1", "b2")
    ids = found.candidates.ids
    sets = {frozenset(ids[at][:2] for at in one.members) for one in found.groups}
    pairs = combinations(("a1", "a2", "b1", "b2"), 2)
    assert sets == {frozenset(pair) for pair in pairs if pair[0][0] != pair[1][0]}
    assert report(found).groups_total == 4
