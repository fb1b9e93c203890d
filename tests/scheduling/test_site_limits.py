"""A site whose owner limits the jobs there gets no more of them, over all its queues; others are used."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.scheduling.attempts.reputation_feedback import HERE_NEVER
from broker_core.scheduling.messages import LinkChanged
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
LONG, SHORT, OTHER = "a:22/jobmanager-slurm-long", "a:22/jobmanager-slurm-short", "b:22/jobmanager-slurm-x"
AT_A_FIRST = f'{PLAIN} Rank = other.GlueSiteName == "a" ? 1 : 0;'
AT_A = f'{PLAIN} Requirements = other.GlueSiteName == "a";'


def limited(most: int) -> Stage:
    stage = Stage([resource(LONG, 8), resource(SHORT, 8), resource(OTHER, 8)])
    stage.tell(LinkChanged("a", "connected", "", True, most))
    return stage


def places(stage: Stage, jobs: list[str]) -> list[str]:
    return [stage.records[job].ce.id for job in jobs]


def test_what_is_above_the_limit_goes_elsewhere_at_once() -> None:
    stage = limited(2)
    jobs = stage.submit(AT_A_FIRST, number=4)
    assert [one.partition(":")[0] for one in places(stage, jobs)] == ["a", "a", "b", "b"]


def test_a_job_for_that_site_alone_waits_with_the_reason_and_follows_the_first_that_ends() -> None:
    stage = limited(1)
    first, second = stage.submit(AT_A, number=2)
    assert (stage.state(first), stage.state(second)) == (S.READY, S.WAITING)
    why = stage.scheduler.why(second, stage.monotonic)
    assert why is not None
    assert "it has the one job that its settings allow" in why.headline
    stage.through(first)
    stage.run()
    assert stage.state(second) is S.READY


def test_a_limit_that_is_lifted_counts_no_more() -> None:
    stage = limited(1)
    jobs = stage.submit(AT_A, number=3)
    stage.tell(LinkChanged("a", "connected", "", True))
    stage.run()
    assert {stage.state(job) for job in jobs} == {S.READY}


def test_what_a_site_would_never_start_is_matched_elsewhere_without_a_second_try_there() -> None:
    stage = limited(0)
    (job,) = stage.submit(AT_A_FIRST)
    stage.accepted(job, held=True)
    before = stage.records[job].ce.id
    (failure,) = HERE_NEVER
    reason = "a would never start it: too long."
    stage.tell(AttemptEnded(Component(job, 1), stage.wall, failure=failure, reason=reason))
    stage.run()
    assert stage.state(job) is S.READY
    assert stage.records[job].ce.id != before
    assert "retried" not in stage.types(job)
    assert "too long" in next(one.reason for one in stage.stories[job] if one.type == "job.rematched")
