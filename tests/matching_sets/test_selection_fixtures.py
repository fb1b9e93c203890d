"""The fixtures that a selection of sets must pass at least (SA-SEL-07 to SA-SEL-09, SA-TST-03)."""

from __future__ import annotations

import pytest

from broker_core.matching.sets import MODES, SearchTrace
from broker_core.matching.sets.trace import read
from tests.matching_sets.pools import EIGHT, NO_RANK, of, of_need

every_mode = pytest.mark.parametrize("mode", MODES)


def test_extending_in_place_gathers_a_member_too_many() -> None:
    pool = of_need(A=4, B=3, C=6)
    assert pool.found(10, "incremental") == [("A", "B", "C")]
    assert pool.found(10, "listing") == [("A", "C")]
    assert pool.found(10, "minimal") == [("A", "C")]


@every_mode
def test_one_that_suffices_comes_before_the_pair_and_never_joins_it(mode: str) -> None:
    assert of_need(CE1=5, CE2=10, CE3=5).found(10, mode) == [("CE2",), ("CE1", "CE3")]


@every_mode
def test_an_empty_pool_has_no_groups(mode: str) -> None:
    assert of((), (), ()).found(3, mode) == []


@every_mode
def test_one_cpu_needs_one_computing_element_only(mode: str) -> None:
    assert [len(one.members) for one in EIGHT.find(1, mode)] == [1] * 8


@every_mode
def test_more_than_all_together_is_found_nowhere(mode: str) -> None:
    assert EIGHT.find(102, mode, max_ces=8) == []


def test_all_together_are_found_where_all_are_needed() -> None:
    assert [len(one.members) for one in EIGHT.find(101, max_ces=8)] == [8]


@every_mode
def test_equal_ranks_leave_the_order_to_the_names(mode: str) -> None:
    pool = of(("d", "a", "c", "b"), (5, 5, 5, 5), (1, 1, 1, 1))
    found = pool.found(10, mode)
    assert found[0] == ("a", "b")
    assert len(set(found)) == len(found)
    if mode == "minimal":
        assert found == sorted(found)


@every_mode
def test_a_group_with_a_member_without_a_rank_comes_last_in_its_size(mode: str) -> None:
    pool = of(("a", "b", "c", "d"), (5, 5, 5, 10), (NO_RANK, 1, 2, NO_RANK))
    found = pool.find(10, mode)
    ranks = {tuple(sorted(pool.named(one))): one.rank for one in found}
    assert ranks[("d",)] is None
    assert all(rank is None for names, rank in ranks.items() if "a" in names)
    if mode != "listing":
        assert [one.rank for one in found if len(one.members) == 2] == [1.5, None, None]


@every_mode
def test_ranks_without_bounds_order_too_and_are_none_where_they_cancel_out(mode: str) -> None:
    infinite = float("inf")
    pool = of(("a", "b", "c"), (5, 5, 5), (infinite, -infinite, 1))
    ranks = {tuple(sorted(pool.named(one))): one.rank for one in pool.find(10, mode, best=True, max_groups=3)}
    assert ranks.pop(("a", "b"), None) is None
    assert ranks.pop(("a", "c")) == infinite
    assert set(ranks.values()) <= {-infinite}
    assert pool.find(10, mode, best=True, max_groups=1)


@every_mode
def test_one_without_a_free_cpu_is_never_a_member(mode: str) -> None:
    assert of_need(A=0, B=5, C=0, D=5).found(10, mode) == [("B", "D")]


@every_mode
def test_a_group_never_has_more_members_than_allowed(mode: str) -> None:
    pool = of_need(**{f"c{place}": 3 for place in range(9)})
    assert pool.find(10, mode, max_ces=3) == []
    assert {len(one.members) for one in pool.find(10, mode, max_ces=4)} == {4}


@every_mode
def test_no_more_groups_are_listed_than_allowed(mode: str) -> None:
    pool = of_need(**{f"c{place}": 5 for place in range(9)})
    assert len(pool.find(10, mode, max_groups=4)) == 4
    assert pool.find(10, mode, max_groups=0) == []


def test_a_listing_of_very_many_ends_and_still_finds_the_single_ones() -> None:
    pool = of_need(**{f"c{place:04}": 1 for place in range(2000)}, last=30)
    trace = SearchTrace()
    assert pool.found(30, "listing", max_ces=9, trace=trace) == [("last",)]
    assert [step.kind for step in read(trace.lines)[-3:]] == ["cut", "limit", "end"]
