"""Queues of one site whose jobs run on the same nodes: what is given out of one is not free in the others."""

from __future__ import annotations

from typing import Any

from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SHARED_NODES, Facts
from tests.resources.made import facts, heard

MAIN, SHORT, OTHER = (f"a:22/jobmanager-slurm-{name}" for name in ("main", "short", "other"))
_BESIDE = {MAIN: [SHORT], SHORT: [MAIN], OTHER: []}


def _queue(ce: str, free: int, total: int = 5) -> Facts:
    more: dict[str, Any] = {SHARED_NODES: _BESIDE[ce]} if _BESIDE[ce] else {}
    return facts(ce, free, total, **more)


def _site(cache: ResourceCache, free: int, at: float = 0.0) -> None:
    queues = [_queue(ce, free) for ce in (MAIN, SHORT, OTHER)]
    cache.report(heard(*queues, at=at, source="site:a", account=True))


def _filled() -> ResourceCache:
    cache = ResourceCache()
    _site(cache, 5)
    return cache


def _free(cache: ResourceCache, now: float = 0.0) -> list[int]:
    return [int(cache.pool(now).free[cache.entries[ce].row]) for ce in (MAIN, SHORT, OTHER)]


def test_what_is_given_out_of_a_queue_is_free_no_longer_in_one_with_the_same_nodes() -> None:
    cache = _filled()
    cache.commit(MAIN, "first", 2, 0.0)
    assert _free(cache) == [3, 3, 5]
    cache.commit(SHORT, "second", 3, 0.0)
    assert _free(cache) == [0, 0, 5]


def test_what_both_queues_publish_later_counts_once() -> None:
    cache = _filled()
    cache.commit(MAIN, "first", 2, 0.0)
    _site(cache, 3, at=1.0)
    assert _free(cache, 1.0) == [3, 3, 3]
    cache.commit(MAIN, "second", 1, 1.0)
    assert _free(cache, 1.0) == [2, 2, 3]


def test_jobs_that_wait_in_a_full_queue_take_nothing_from_the_others() -> None:
    cache = ResourceCache()
    queues = [_queue(MAIN, 0), _queue(SHORT, 4, total=9)]
    cache.report(heard(*queues, source="site:a", account=True))
    for number in range(20):
        cache.commit(MAIN, f"waits-{number}", 1, 0.0)
    assert int(cache.pool(0.0).free[cache.entries[SHORT].row]) == 4


def test_what_comes_back_before_it_was_published_is_free_in_both_and_waiting_jobs_are_told() -> None:
    cache = _filled()
    cache.commit(MAIN, "first", 5, 0.0)
    cache.board.raised.clear()
    cache.release("first", 1.0)
    assert _free(cache, 1.0) == [5, 5, 5]
    assert cache.board.raised == {cache.entries[ce].row for ce in (MAIN, SHORT)}


def test_a_job_that_waited_and_goes_to_the_other_queue_leaves_no_free_processor_behind() -> None:
    cache = ResourceCache()
    queues = [_queue(MAIN, 2, total=2), _queue(SHORT, 2, total=2)]
    cache.report(heard(*queues, source="site:a", account=True))
    cache.commit(MAIN, "runs", 1, 0.0)
    cache.started("runs")
    cache.commit(SHORT, "waits", 1, 0.0)
    queues = [_queue(MAIN, 1, total=2), _queue(SHORT, 1, total=2)]
    cache.report(heard(*queues, at=1.0, source="site:a", account=True))
    cache.release("waits", 2.0)
    assert [int(cache.pool(2.0).free[cache.entries[ce].row]) for ce in (MAIN, SHORT)] == [1, 1]
    cache.commit(MAIN, "waits", 1, 2.0)
    assert [int(cache.pool(2.0).free[cache.entries[ce].row]) for ce in (MAIN, SHORT)] == [0, 0]
    assert cache.entries[SHORT].bare == 0


def test_a_queue_that_has_gone_takes_what_was_given_out_of_it_along() -> None:
    cache = _filled()
    cache.commit(MAIN, "first", 2, 0.0)
    cache.report(heard(_queue(SHORT, 5), at=1.0, source="site:a", account=True))
    assert list(cache.entries) == [SHORT]
    assert int(cache.pool(1.0).free[cache.entries[SHORT].row]) == 5


def test_names_that_are_no_list_share_nothing() -> None:
    cache = ResourceCache()
    cache.report(heard(facts(MAIN, **{SHARED_NODES: SHORT}), facts(SHORT, **{SHARED_NODES: 3})))
    cache.commit(MAIN, "first", 2, 0.0)
    assert int(cache.pool(0.0).free[cache.entries[SHORT].row]) == 5


def test_what_idle_glideins_hold_is_no_bare_processor_and_counts_once_when_it_is_published() -> None:
    cache = _filled()
    cache.commit(MAIN, "first", 1, 0.0)
    cache.hold(MAIN, 1)
    cache.release("first", 1.0)
    assert (_free(cache, 1.0), _bare(cache)) == ([5, 4, 5], [4, 4, 5])
    _site(cache, 4, at=2.0)
    assert (_free(cache, 2.0), _bare(cache)) == ([4, 4, 4], [4, 4, 4])
    cache.hold(MAIN, -1)
    assert _bare(cache) == [5, 4, 4]


def test_glideins_that_were_there_before_their_queue_was_known_count() -> None:
    cache = ResourceCache()
    cache.hold(MAIN, 2)
    _site(cache, 3)
    assert _bare(cache) == [3, 3, 3]
    cache.hold(MAIN, -2)
    assert _bare(cache)[0] == 5


def _bare(cache: ResourceCache) -> list[int]:
    return [int(cache.board.bare[cache.entries[ce].row]) for ce in (MAIN, SHORT, OTHER)]
