"""What is known of resources, and what was given out of them: the fixtures of CB-CACHE."""

from __future__ import annotations

from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import Facts
from broker_core.resources.marks import Faults
from tests.resources.made import EPOCH, facts, heard

A, B = "a:2119/jobmanager-pbs-long", "b:2119/jobmanager-pbs-long"


def filled(account: bool = False) -> ResourceCache:
    cache = ResourceCache()
    cache.report(heard(facts(A), facts(B), account=account))
    return cache


def free(cache: ResourceCache, ce: str, now: float = 0.0) -> int:
    return int(cache.pool(now).free[cache.entries[ce].row])


def barred(cache: ResourceCache, ce: str, now: float = 0.0) -> str:
    bar = cache.pool(now).barred.get(cache.entries[ce].row)
    return bar.origin if bar else ""


def take(cache: ResourceCache, job: str, ces: list[str], now: float, cpus: int = 5) -> bool:
    """Choose a set as the scheduler does: lock it and commit its CPUs, or nothing."""
    if not cache.lock(ces, job, now):
        return False
    for ce in ces:
        cache.commit(ce, job, cpus, now)
    return True


def test_of_two_jobs_over_the_same_two_resources_exactly_one_gets_both() -> None:
    cache = filled()
    assert take(cache, "first", [A, B], 0.0)
    assert not take(cache, "second", [B, A], 0.0)
    assert [cache.lock_of(ce, 0.0).owner for ce in (A, B)] == ["first", "first"]  # type: ignore[union-attr]
    assert cache.commitments_at(A).keys() == cache.commitments_at(B).keys() == {"first"}


def test_a_set_of_which_one_is_locked_leaves_no_lock_on_the_others() -> None:
    cache = filled()
    assert take(cache, "first", [B], 0.0)
    assert not take(cache, "second", [A, B], 0.0)
    assert cache.lock_of(A, 0.0) is None
    assert take(cache, "third", [A], 0.0)


def test_a_third_job_cannot_lock_inside_the_interval_but_after_it_with_fewer_free_cpus() -> None:
    cache = filled()
    take(cache, "first", [A, B], 0.0, cpus=3)
    cache.answered("first", 10.0)
    assert not cache.lock([A], "third", 119.0)
    assert barred(cache, A, 119.0) == "lock"
    assert cache.lock([A], "third", 120.0)
    assert free(cache, A, 120.0) == 2


def test_a_failed_submission_gives_back_cpus_and_locks_at_once() -> None:
    cache = filled()
    take(cache, "first", [A, B], 0.0)
    cache.release("first", 1.0)
    assert (free(cache, A, 1.0), barred(cache, A, 1.0)) == (5, "")
    assert cache.lock([A, B], "second", 1.0)


def test_with_an_account_the_lock_of_a_set_ends_with_the_answer_and_its_cpus_stay_given() -> None:
    cache = filled(account=True)
    take(cache, "set", [A, B], 0.0)
    assert not cache.lock([A], "other", 1.0)
    cache.answered("set", 2.0)
    assert cache.lock([A], "other", 2.0)
    assert free(cache, A, 2.0) == 0


def test_with_an_account_jobs_are_sent_to_one_resource_without_waiting_for_its_answers() -> None:
    cache = filled(account=True)
    assert all(take(cache, f"job{number}", [A], 0.0, cpus=1) for number in range(5))
    assert free(cache, A) == 0


def test_cpus_given_out_are_not_free_until_the_job_has_returned() -> None:
    cache = filled()
    take(cache, "job", [A], 0.0, cpus=2)
    assert free(cache, A) == 3
    cache.report(heard(facts(A), facts(B), at=60.0))
    assert free(cache, A, 60.0) == 3
    cache.release("job", 61.0)
    assert free(cache, A, 61.0) == 5


def test_a_published_figure_that_counts_our_job_is_not_lowered_twice() -> None:
    cache = filled()
    take(cache, "job", [A], 0.0, cpus=2)
    cache.report(heard(facts(A, free=3), facts(B), at=60.0))
    assert free(cache, A, 60.0) == 1, "it may be somebody else who has them"
    cache.report(heard(facts(A, free=3), facts(B), at=180.0))
    assert free(cache, A, 180.0) == 3


def test_a_site_of_our_own_never_counts_our_jobs_twice_nor_waits_for_its_next_word() -> None:
    cache = filled(account=True)
    for job in ("one", "two", "three"):
        take(cache, job, [A], 0.0, cpus=1)
    cache.report(heard(facts(A, free=3), facts(B), at=1.0, account=True))
    assert free(cache, A, 1.0) == 2, "the site counts two of the three, and nobody else is there"
    cache.release("one", 2.0)
    assert free(cache, A, 2.0) == 3


def test_what_no_source_has_spoken_of_for_three_intervals_is_kept_but_not_matched() -> None:
    cache = filled()
    assert barred(cache, A, 359.0) == ""
    assert barred(cache, A, 360.0) == "stale"
    cache.report(heard(facts(A), complete=False, at=400.0))
    assert (barred(cache, A, 400.0), barred(cache, B, 400.0)) == ("", "stale")


def test_a_failing_resource_is_left_alone_longer_each_time_and_at_most_for_the_bad_period() -> None:
    cache = filled()
    now, pauses = 0.0, []
    for _ in range(5):
        cache.report(heard(facts(A), facts(B), at=now))
        cache.failed(A, now, "no answer")
        assert barred(cache, A, now) == "status"
        end = cache.troubles.next_trial(now)
        assert end is not None
        pauses.append(end - now)
        now = end
        cache.report(heard(facts(A), facts(B), at=now))
        assert barred(cache, A, now) == ""
    assert pauses == [5.0, 20.0, 80.0, 320.0, 600.0]


def test_down_lasts_until_a_source_reports_it_healthy() -> None:
    cache = filled()
    cache.failed(A, 0.0, "connection refused", down=True)
    assert barred(cache, A, 300.0) == "status"
    cache.report(heard(facts(A), facts(B), at=300.0))
    assert barred(cache, A, 300.0) == ""


def test_two_sources_make_one_entry_and_the_newest_value_wins() -> None:
    cache = filled()
    more = facts(A.replace("a:", "A:"), free=1, GlueHostMainMemoryRAMSize=4096)
    cache.report(heard(more, at=50.0, source="monitor"))
    assert sorted(cache.entries) == [A, B]
    assert free(cache, A, 50.0) == 1
    cache.report(heard(facts(A, free=4), facts(B), at=60.0))
    assert free(cache, A, 60.0) == 4
    assert cache.pool(60.0).columns.values(cache.entries[A].row)["gluehostmainmemoryramsize"] == 4096


def test_what_a_complete_answer_does_not_name_has_gone_unless_its_site_was_silent() -> None:
    cache = filled()
    cache.report(heard(facts(B), at=10.0, silent=("a",)))
    assert sorted(cache.entries) == [A, B]
    cache.report(heard(facts(B), at=20.0))
    assert sorted(cache.entries) == [B]
    assert cache.pool(20.0).columns.row_of(A) is None


def test_without_access_nothing_is_used_that_is_known_from_an_index_alone() -> None:
    cache = ResourceCache(access_needed=True)
    cache.report(heard(facts(A), facts(B)))
    cache.report(heard(facts(B), source="b", account=True))
    assert (barred(cache, A), barred(cache, B)) == ("access", "")


def test_without_a_cache_nothing_is_known_between_two_answers() -> None:
    cache = filled()
    cache.forget(5.0)
    assert barred(cache, A, 5.0) == "stale"
    cache.report(heard(facts(A), facts(B), at=6.0))
    assert barred(cache, A, 6.0) == ""


def test_counts_that_no_site_can_have_do_no_harm() -> None:
    cache = ResourceCache()
    wild = facts(A, free=10**30, total=-5, GlueCEStateWaitingJobs="many", Nested=[["a"], ["b"]])
    cache.report(heard(wild, facts(B, free=7, total=0)))
    assert free(cache, A) == cache.entries[A].total == 2**31 - 1
    assert cache.entries[A].waiting == 0
    assert (free(cache, B), cache.entries[B].total) == (7, 7), "a total that is not told is what is free"


def test_values_of_both_vocabularies_are_found_under_both_names() -> None:
    cache = ResourceCache()
    older = facts(A, GlueHostMainMemoryRAMSize=2048)
    newer = {
        "GLUE2ComputingManagerTotalLogicalCPUs": 8, "GLUE2ComputingShareFreeSlots": 3,
        "GLUE2ComputingShareWaitingJobs": 2, "GLUE2ExecutionEnvironmentMainMemorySize": 4096,
    }  # fmt: skip
    cache.report(heard(older, Facts(B, "b", newer)))
    pool = cache.pool(0.0)
    at_a, at_b = (pool.values(cache.entries[ce].row) for ce in (A, B))
    assert at_a["glue2executionenvironmentmainmemorysize"] == 2048
    assert at_b["gluehostmainmemoryramsize"] == 4096
    assert (at_b["glueceinfototalcpus"], at_b["gluecestatefreecpus"], at_b["gluecestatewaitingjobs"]) == (
        8, 3, 2,
    )  # fmt: skip


def test_where_the_site_itself_is_heard_its_own_counts_win_over_a_newer_index() -> None:
    cache = ResourceCache()
    cache.report(heard(facts(A, free=1), source="login node", account=True))
    cache.report(heard(facts(A, free=5, GlueSiteCountry="es"), at=30.0))
    assert free(cache, A, 30.0) == 1
    assert cache.pool(30.0).values(cache.entries[A].row)["gluesitecountry"] == "es"


def test_the_history_is_bounded_and_at_most_a_day() -> None:
    cache = ResourceCache()
    for minute in range(3000):
        cache.report(heard(facts(A, free=minute % 6), at=60.0 * minute))
    history = cache.entries[A].history
    assert len(history.times) == len(history.free) == len(history.waiting) <= 1441
    assert history.times[-1] - history.times[0] <= 86_400
    assert history.times[-1] == EPOCH + 60.0 * 2999


def test_a_resource_that_always_fails_is_tried_again_for_ever() -> None:
    troubles = Faults(first=5.0, longest=600.0)
    pauses = [troubles.failed(A, 0.0, "full").until for _ in range(2000)]
    assert pauses[:5] == [5.0, 20.0, 80.0, 320.0, 600.0]
    assert set(pauses[5:]) == {600.0}


def test_jobs_for_which_processors_are_free_do_not_count_as_waiting() -> None:
    cache = filled(account=True)
    entry = cache.entries[A]
    for number in range(4):
        cache.commit(A, f"job{number}", 2, 0.0)
    assert (entry.own_waiting, entry.queue) == (4, 1), "five processors of eight are free"
    cache.started("job0")
    cache.started("job1")
    assert (entry.own_waiting, entry.queue) == (2, 1)
    cache.report(heard(facts(A, free=0), facts(B), at=1.0, account=True))
    assert entry.queue == 2
    cache.release("job0", 2.0)
    cache.release("job2", 2.0)
    assert (entry.own_waiting, entry.queue) == (1, 1)


def test_at_a_site_that_others_fill_all_our_jobs_wait() -> None:
    cache = ResourceCache()
    cache.report(heard(facts(A, free=0, total=1000), account=True))
    for number in range(5):
        cache.commit(A, f"job{number}", 1, 0.0)
    cache.report(heard(facts(A, free=0, total=1000), at=1.0, account=True))
    assert cache.entries[A].queue == 5
