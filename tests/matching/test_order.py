"""The order of candidates: queue, data, rank, fit, name; and by lot for FuzzyRank."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.matching.context import Context
from broker_core.matching.match import match
from broker_core.matching.ordering import drawn
from broker_core.matching.sorting import sorted_by
from tests.matching.made import job, resource


def test_data_close_by_comes_before_rank_and_after_long_queues() -> None:
    resources = [
        resource("far", GlueHostBenchmarkSI00=9),
        resource("near", GlueHostBenchmarkSI00=1),
        resource("nearest", GlueHostBenchmarkSI00=1),
        resource("crowded", waiting=101, GlueHostBenchmarkSI00=9),
    ]
    close = {
        f"{name}:2119/jobmanager-fork-q": count
        for name, count in (("near", 1), ("nearest", 2), ("crowded", 5))
    }
    found = match(job("Rank = other.GlueHostBenchmarkSI00;"), resources, context=Context(close=close))
    assert [one.resource.site for one in found.candidates] == ["nearest", "near", "far", "crowded"]
    assert found.candidates.close_files.tolist() == [2, 1, 0, 5]


def test_an_interactive_job_puts_every_site_with_a_queue_last() -> None:
    resources = [resource("a", waiting=1), resource("b", total=9, free=9)]
    context = Context(abilities=frozenset({"interactive"}))
    found = match(job("Interactive = true;"), resources, context=context)
    assert [one.resource.site for one in found.candidates] == ["b", "a"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from([0.0, -0.0, -1.5, 3.25, 1e300, -1e300, math.inf, -math.inf]),
            st.integers(-(2**62), 2**62),
        ),
        min_size=1,
    ),
    st.integers(1, 40),
)
@settings(max_examples=40, deadline=None)
def test_long_lists_are_sorted_like_short_ones(rows: list[tuple[int, float, int]], times: int) -> None:
    many = rows * (1 + 2000 * times // 40 // len(rows))
    keys = [np.array(column) for column in zip(*many, strict=True)]
    expected = sorted(range(len(many)), key=lambda at: (many[at], at))
    assert sorted_by(keys).tolist() == expected


def test_thousands_of_candidates_come_in_the_same_order_as_few() -> None:
    chance = random.Random(4)
    resources = [
        resource(
            f"s{n:05}",
            50,
            chance.randint(0, 50),
            chance.choice((0, 200)),
            GlueHostBenchmarkSI00=chance.random(),
        )
        for n in range(2000)
    ]
    found = match(job("Rank = other.GlueHostBenchmarkSI00;"), resources)
    expected = sorted(
        resources, key=lambda one: (one.waiting > 100, -one.attributes["GlueHostBenchmarkSI00"], one.ce)
    )
    assert [one.resource.ce for one in found.candidates] == [one.ce for one in expected]


def test_a_fuzzy_rank_draws_the_same_lots_for_the_same_seed() -> None:
    resources = [resource(f"s{n}", GlueHostBenchmarkSI00=n) for n in range(9)]
    description = job("FuzzyRank = true; Rank = other.GlueHostBenchmarkSI00;")
    orders = [
        [
            one.resource.site
            for one in match(description, resources, context=Context(fuzzy_seed=seed)).candidates
        ]
        for seed in (1, 1, 2, 3)
    ]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == 3
    found = match(description, resources, context=Context(fuzzy_seed=1))
    assert {one.resource.site: one.rank for one in found.candidates} == {f"s{n}": float(n) for n in range(9)}


def test_the_chance_of_a_fuzzy_rank_is_that_of_its_formula() -> None:
    ranks = np.array([0.0, 5.0, 10.0])
    firsts = Counter(int(np.argmax(drawn(ranks, 0.5, seed))) for seed in range(0, 2_000_000, 100))
    weights = [math.exp((rank - 10) / (0.5 * 10)) for rank in ranks]
    for place, weight in enumerate(weights):
        assert abs(firsts[place] / 20_000 - weight / sum(weights)) < 0.02
    equal = Counter(int(np.argmax(drawn(np.zeros(4), 0.1, seed))) for seed in range(8000))
    assert all(abs(count / 8000 - 0.25) < 0.02 for count in equal.values())


def test_fuzzy_ranks_without_bounds_stay_in_bounds() -> None:
    lots = drawn(np.array([1.7e308, -1.7e308, np.inf, -np.inf, 1.7e308]), 0.1, 7)
    assert np.argsort(-lots)[[0, 3, 4]].tolist() == [2, 1, 3]
    assert not np.isnan(lots).any()


def test_a_fuzzy_rank_that_is_no_number_stays_last() -> None:
    lots = drawn(np.array([1.0, np.nan, 2.0]), 0.1, 7)
    assert np.isnan(lots[1])
    assert not np.isnan(lots[[0, 2]]).any()
