"""Interactive jobs that a site has taken and does not start: they wait in no queue (CB-SCH-08)."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptRuns
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
A = "a:22/jobmanager-slurm-x"
B = "a:22/jobmanager-slurm-y"


def handed_over() -> tuple[Stage, str]:
    stage = Stage([resource(A)], able=frozenset({"interactive"}))
    (job,) = stage.submit(f"{PLAIN} Interactive = true;")
    stage.accepted(job)
    return stage, job


def test_an_interactive_job_that_its_site_lets_wait_is_refused_once_it_has_ended_there() -> None:
    stage, job = handed_over()
    stage.wait(119)
    assert stage.cancels == []
    stage.wait(2)
    assert [one.ce.id for one in stage.cancels] == [A]
    assert stage.types(job)[-1] == "start_overdue"
    stage.ended(job, None, failure="killed")
    stage.run()
    assert stage.types(job)[-2:] == ["rematched", "aborted"]
    assert "a has not started it within 120 s, it waits in the queue there" in stage.records[job].reason
    (other,) = stage.submit()
    assert stage.submits[-1].record.id == other
    assert stage.submits[-1].ce.id == A, "who lets a job wait has not failed it"


def test_an_interactive_job_starts_elsewhere_where_its_site_is_fuller_than_was_known() -> None:
    stage = Stage([resource(A, free=2), resource(B, free=1)], able=frozenset({"interactive"}))
    (job,) = stage.submit(f"{PLAIN} Interactive = true;")
    first, other = stage.submits[-1].ce.id, {A, B}
    other.discard(first)
    stage.accepted(job)
    stage.wait(9)
    assert stage.cancels == []
    stage.wait(2)
    assert [one.ce.id for one in stage.cancels] == [first]
    stage.wait(200)
    assert len(stage.submits) == 1, "not before the first is over"
    assert stage.types(job).count("start_overdue") == 1
    stage.ended(job, None, failure="killed")
    stage.run()
    assert stage.types(job)[-2:] == ["rematched", "matched"]
    reasons = [event.reason for event in stage.stories[job]]
    assert "a has not started it within 10 s, and it can start elsewhere" in " ".join(reasons)
    assert {stage.submits[-1].ce.id} == other
    stage.accepted(job)
    stage.wait(119)
    assert stage.types(job).count("start_overdue") == 1, "there is nothing else left"
    stage.wait(2)
    stage.ended(job, None, failure="killed")
    stage.run()
    assert stage.types(job)[-1] == "aborted"


def test_an_interactive_job_that_runs_by_the_word_of_its_site_has_left_the_queue() -> None:
    stage, job = handed_over()
    stage.wait(100)
    stage.tell(AttemptRuns(Component(job, 1)))
    stage.wait(290)
    assert stage.cancels == []
    stage.wait(11)
    assert [one.ce.id for one in stage.cancels] == [A]


def test_an_interactive_job_that_started_is_not_ended_by_the_wait_it_had() -> None:
    stage, job = handed_over()
    stage.started(job)
    stage.wait(1000)
    assert stage.cancels == []
    assert stage.state(job) is S.RUNNING


def test_the_wait_of_an_interactive_job_counts_anew_after_a_restart_and_a_cut() -> None:
    stage, _ = handed_over()
    stage.wait(100)
    stage.restart()
    stage.wait(100)
    stage.link("a", "retrying", "no route")
    stage.wait(500)
    stage.link("a")
    stage.wait(100)
    assert stage.cancels == []
    stage.wait(21)
    assert [one.ce.id for one in stage.cancels] == [A]
