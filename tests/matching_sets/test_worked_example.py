"""The published worked example: ten CPUs over eight computing elements (CB-SET-05 to CB-SET-10)."""

from __future__ import annotations

import pytest

from broker_core.matching.grouping import split
from broker_core.matching.sets import calculation
from tests.matching_sets.pools import CAGNODE, CE001, CE01, CE100, CG01, CGNODE, CLUSTER, EIGHT, ZEUS


def test_listing_gives_the_printed_groups_in_the_printed_order() -> None:
    found = [(EIGHT.named(one), one.rank, one.free) for one in EIGHT.find(10, "listing")]
    assert found == [
        ((CE001,), 650.0, 10),
        ((CLUSTER,), 630.0, 16),
        ((ZEUS,), 400.0, 57),
        ((CAGNODE, CE100), 440.0, 12),
        ((CE01, CE100), 498.0, 10),
        ((CAGNODE, CE01, CG01, CGNODE), pytest.approx(435.6), 10),
    ]


def test_minimal_also_finds_the_pairs_that_the_listing_misses_and_puts_the_best_rank_first() -> None:
    found = [(tuple(sorted(EIGHT.named(one))), one.rank) for one in EIGHT.find(10)]
    assert found == [
        ((CE001,), 650.0),
        ((CLUSTER,), 630.0),
        ((ZEUS,), 400.0),
        ((CE01, CE100), 498.0),
        ((CE100, CG01), pytest.approx(440.8)),
        ((CE100, CGNODE), pytest.approx(440.8)),
        ((CAGNODE, CE100), 440.0),
        ((CAGNODE, CE01, CG01, CGNODE), pytest.approx(435.6)),
    ]


def test_the_weights_are_all_free_cpus_of_a_member() -> None:
    assert calculation([4, 8], [400, 460], 440.0) == "(4 × 400 + 8 × 460) / 12 = 440"
    assert calculation([10], [650], 650.0) == "650"
    assert calculation([4, 8], [None, 460], None) == "n/a: the Rank of a member is no number"


def test_a_subset_that_suffices_keeps_larger_groups_out() -> None:
    """{CE2}, {CE1, CE3} and {CE1, CE4} are valid, {CE1, CE3, CE4} is not listed (CB-SET-03)."""
    from tests.matching_sets.pools import of_need

    pool = of_need(CE1=8, CE2=10, CE3=2, CE4=3)
    for mode in ("minimal", "listing"):
        assert pool.found(10, mode) == [("CE2",), ("CE1", "CE3"), ("CE1", "CE4")]


def test_the_largest_components_are_built_first() -> None:
    assert split([4, 8], 10) == (2, 8)
    assert split([2, 2, 4, 2], 10) == (2, 2, 4, 2)
    assert split([57], 10) == (10,)


def test_every_member_of_every_smallest_group_gets_a_cpu() -> None:
    for group in EIGHT.find(10):
        cpus = split([int(EIGHT.free[one]) for one in group.members], 10)
        assert sum(cpus) == 10
        assert min(cpus) >= 1
