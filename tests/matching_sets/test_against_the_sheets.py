"""Every mode against its sheet, written down literally, on thousands of small pools."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.matching_sets import naive
from tests.matching_sets.pools import of, small


@pytest.fixture
def cases(soak: bool) -> int:
    return 60_000 if soak else 3_000


def test_minimal_finds_exactly_the_groups_of_the_exhaustive_search(cases: int) -> None:
    random_ = random.Random(1)
    for _ in range(cases):
        pool = small(random_, 9)
        need, most = random_.randrange(1, 40), random_.choice((1, 2, 5, 1000))
        size = random_.randrange(1, 8)
        expected = naive.minimal(pool, need, size, most)
        found = pool.find(need, max_ces=size, max_groups=most)
        assert sorted(one.members for one in found) == sorted(expected)


def test_the_first_group_is_a_smallest_one_of_the_best_rank(cases: int) -> None:
    random_ = random.Random(2)
    for _ in range(cases // 3):
        pool = small(random_, 8)
        need = random_.randrange(1, 30)
        every = naive.minimal(pool, need, 8, 10**9)
        found = pool.find(need, max_ces=8)
        assert bool(found) == bool(every)
        if found:
            fewest = min(len(one) for one in every)
            ranks = [naive.rank(pool, one) for one in every if len(one) == fewest]
            best = max((rank for rank in ranks if rank == rank), default=None)
            assert len(found[0].members) == fewest
            assert found[0].rank == (None if best is None else pytest.approx(best))


def test_the_best_of_the_smallest_is_first_even_where_the_list_is_cut(cases: int) -> None:
    random_ = random.Random(6)
    cut = 0
    for _ in range(cases // 3):
        pool = small(random_, 10)
        need, most = random_.randrange(1, 40), random_.choice((1, 2, 3))
        every = naive.minimal(pool, need, 4, 10**9)
        found = pool.find(need, max_groups=most, best=True)
        assert len(found) == min(most, len(every))
        if not found:
            continue
        fewest = min(len(one) for one in every)
        ranks = [rank for one in every if len(one) == fewest and (rank := naive.rank(pool, one)) == rank]
        assert found[0].rank == (pytest.approx(max(ranks)) if ranks else None)
        assert {one.members for one in found} <= set(every)
        cut += fewest > 1 and len(every) > most
    assert cut > 20


def test_the_best_of_very_many_pairs_is_found(soak: bool) -> None:
    random_ = np.random.default_rng(7)
    for _ in range(50 if soak else 8):
        free = random_.integers(1, 100, 363)
        rank = random_.integers(1, 3000, 363).astype(float)
        pool = of([f"ce{place:03}" for place in range(363)], free, rank)
        sums, weights = free[:, None] + free, (free * rank)[:, None] + free * rank
        valid = (sums >= 100) & ~np.eye(363, dtype=bool)
        found = pool.find(100, best=True)
        assert len(found) == 1000
        assert found[0].rank == pytest.approx((weights / sums)[valid].max())


def test_groups_are_in_the_order_in_which_they_are_tried(cases: int) -> None:
    random_ = random.Random(3)
    for _ in range(cases // 10):
        pool = small(random_, 8)
        found = pool.find(need := random_.randrange(1, 30), max_ces=8)
        keys = [
            (
                len(one.members),
                float("inf") if one.rank is None else -one.rank,
                one.free - need,
                sorted(pool.named(one)),
            )
            for one in found
        ]
        assert keys == sorted(keys)


@pytest.mark.parametrize("mode", ["listing", "incremental"])
def test_the_published_modes_do_what_their_sheets_say(mode: str, cases: int) -> None:
    random_ = random.Random(4)
    for _ in range(cases // 3):
        pool = small(random_, 8)
        need = random_.randrange(1, 30)
        expected = getattr(naive, mode)(pool, need)
        assert [one.members for one in pool.find(need, mode, max_ces=9, max_groups=10**6)] == expected


def test_a_search_that_is_cut_keeps_the_first_groups_of_a_larger_pool(soak: bool) -> None:
    random_ = random.Random(5)
    for _ in range(60 if soak else 12):
        ids = [f"ce{place:02}" for place in range(40)]
        pool = of(ids, [random_.randrange(1, 30) for _ in ids], [float(random_.randrange(9)) for _ in ids])
        need, most = random_.randrange(20, 70), random_.randrange(1, 200)
        expected = naive.minimal(pool, need, 3, most)
        assert sorted(one.members for one in pool.find(need, max_ces=3, max_groups=most)) == sorted(expected)
