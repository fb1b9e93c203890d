"""Sources speak: large answers are merged in slices, old ones do not count, locks bridge what they hide."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptRefused
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.reactor.reactor import TimerFired
from broker_core.resources.facts import SourceHeard, facts_of
from broker_core.resources.record import Resource
from broker_core.scheduling.config import SchedulerConfig
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState


def said(
    stage: Stage, *resources: Resource, source: str = "index", interval: float = 120.0, account: bool = False
) -> SourceHeard:
    facts = tuple(map(facts_of, resources))
    return SourceHeard(source, stage.wall, stage.monotonic, facts, True, (), interval, account)


def empty(rules: SchedulerConfig | None = None) -> Stage:
    """A stage on which nothing is known."""
    stage = Stage([], rules)
    assert stage.scheduler.cache.entries == {}
    return stage


def test_a_large_answer_is_merged_in_slices_and_decisions_go_on_meanwhile() -> None:
    stage = Stage([resource("own:1/x", cpus=100)], SchedulerConfig(slice_facts=50))
    many = [resource(f"ce{number}:1/x", cpus=4) for number in range(1000)]
    stage.tell(said(stage, *many))
    assert len(stage.scheduler.cache.entries) == 51
    assert stage.wake <= stage.monotonic
    (job,) = stage.submit(PLAIN + 'Requirements = other.GlueCEUniqueID == "own:1/x";')
    assert stage.state(job) is S.READY
    assert len(stage.scheduler.cache.entries) == 1001


def test_facts_of_half_an_answer_make_nobody_be_matched_again() -> None:
    stage = Stage([resource("own:1/x", cpus=1)], SchedulerConfig(slice_facts=10))
    stage.submit(number=2)
    asked = stage.scheduler._state.eligibility.asked
    many = [resource(f"ce{number}:1/x", cpus=4, free=0) for number in range(200)]
    stage.tell(said(stage, *many))
    for _ in range(10):
        stage.tell(TimerFired())
    assert stage.scheduler._state.eligibility.asked == asked
    stage.run()
    assert stage.scheduler._state.eligibility.asked == asked + 1


def test_what_is_known_from_an_index_alone_is_given_to_one_job_for_the_whole_interval() -> None:
    stage = empty()
    stage.tell(said(stage, resource("grid:1/x", cpus=10), interval=1e9))
    first, second = stage.submit(number=2)
    stage.accepted(first)
    stage.run()
    assert (stage.state(first), stage.state(second)) == (S.SCHEDULED, S.WAITING)
    why = stage.scheduler.why(second, stage.monotonic)
    assert why is not None
    assert "exclusive access" in why.headline
    stage.wait(119)
    assert stage.state(second) is S.WAITING
    stage.wait(2)
    assert stage.state(second) is S.READY
    assert stage.scheduler.cache.entries["grid:1/x"].free == 8


def test_a_refused_submission_lifts_the_lock_at_once() -> None:
    stage = empty(SchedulerConfig(first_bad_period=1.0))
    stage.tell(said(stage, resource("grid:1/x", cpus=10), interval=1e9))
    first, second = stage.submit(number=2)
    stage.tell(AttemptRefused(Component(first, 1), "no proxy"))
    stage.wait(2)
    assert stage.state(first) is S.READY
    assert stage.state(second) is S.WAITING


def test_a_resource_that_no_source_speaks_of_any_more_is_not_used() -> None:
    stage = empty()
    stage.tell(said(stage, resource("grid:1/x", cpus=10), account=True))
    stage.wait(361)
    (job,) = stage.submit()
    assert stage.state(job) is S.WAITING
    why = stage.scheduler.why(job, stage.monotonic)
    assert why is not None
    assert "no source has spoken of it" in why.headline
    stage.tell(said(stage, resource("grid:1/x", cpus=10), account=True))
    stage.run()
    assert stage.state(job) is S.READY


def test_a_resource_without_an_account_is_used_only_where_none_is_needed() -> None:
    stage = empty(SchedulerConfig(access_needed=True))
    stage.tell(said(stage, resource("grid:1/x", cpus=10)))
    (job,) = stage.submit()
    assert "no way to send jobs there" in stage.records[job].reason
    stage.tell(said(stage, resource("grid:1/x", cpus=10), source="login node", account=True))
    stage.run()
    assert stage.state(job) is S.READY


def test_a_job_that_only_a_draining_resource_could_run_waits_and_is_not_infeasible() -> None:
    stage = empty()
    draining = resource("grid:1/x", cpus=10)
    draining.attributes["GlueCEStateStatus"] = "Draining"
    stage.tell(said(stage, draining, interval=1e9, account=True))
    (job,) = stage.submit()
    stage.wait(4000)
    assert stage.state(job) is S.WAITING
    stage.tell(said(stage, resource("grid:1/x", cpus=10), interval=1e9, account=True))
    stage.run()
    assert stage.state(job) is S.READY


def test_decisions_are_numbered_and_the_oldest_are_forgotten() -> None:
    stage = Stage([resource(cpus=50)], SchedulerConfig(decisions=10))
    jobs = stage.submit(number=25)
    decisions = stage.scheduler.decisions
    kept = decisions.after(0, 100)
    assert [one.number for one in kept] == list(range(16, 26))
    assert [one.job for one in kept] == jobs[15:]
    assert {(one.what, one.considered, one.matching) for one in kept} == {("chosen", 1, 1)}
    assert [one.number for one in decisions.after(20, 3)] == [21, 22, 23]
    assert decisions.after(25, 100) == []


def test_each_round_over_the_waiting_jobs_is_noted_with_its_time() -> None:
    stage = Stage([resource(cpus=1)])
    stage.submit(number=3)
    stage.wait(250)
    rounds = [one for one in stage.scheduler.decisions.after(0, 100) if one.what == "round"]
    assert len(rounds) == 2
    assert rounds[1].time - rounds[0].time == 120.0
    assert "2 waiting jobs" in rounds[0].reason
    assert stage.scheduler.next_round == rounds[1].time + 120.0
