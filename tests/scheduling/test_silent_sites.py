"""Sites that cannot be reached, and attempts that may still be alive there (reliability cases 8, 11, 12)."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import (
    AttemptAccepted,
    AttemptEnded,
    AttemptRefused,
    AttemptRuns,
    AttemptStarted,
)
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.scheduling.effects import Cancel, Confirm, of_components
from broker_core.scheduling.messages import CancelAsked, ElsewhereAsked
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
A, A_LONG, B = "a:22/jobmanager-slurm-x", "a:22/jobmanager-slurm-long", "b:22/jobmanager-slurm-x"


def two_sites(cpus: int = 2) -> Stage:
    return Stage([resource(A, cpus=cpus), resource(A_LONG, cpus=cpus + 1), resource(B, cpus=cpus + 2)])


def test_a_held_attempt_is_confirmed_once_its_place_is_recorded() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job, held=True)
    assert stage.confirms == of_components(Confirm, stage.records[job])
    assert stage.state(job) is S.SCHEDULED


def test_what_a_site_did_not_hold_is_not_confirmed() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job)
    assert stage.confirms == []


def test_a_scheduled_job_is_confirmed_again_after_a_restart_and_after_a_cut() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job, held=True)
    stage.restart()
    assert len(stage.confirms) == 2
    stage.link("a", "retrying", "no route")
    stage.link("a")
    assert [one.record.id for one in stage.confirms] == [job] * 3


def test_a_canceled_job_is_not_confirmed() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.tell(CancelAsked(job))
    assert len(stage.cancels) == 1
    stage.accepted(job, held=True)
    assert (stage.confirms, len(stage.cancels)) == ([], 2)


def test_no_job_is_sent_to_a_site_without_contact_and_those_there_stay_as_they_are() -> None:
    stage = two_sites()
    (there,) = stage.submit()
    stage.accepted(there)
    stage.started(there)
    stage.link("a", "retrying", "connection timed out")
    before = stage.records[there]
    stage.wait(3600)
    (fresh,) = stage.submit()
    assert stage.submits[-1].ce.id == B
    assert stage.records[there] == before
    assert stage.state(fresh) is S.READY


def test_a_waiting_job_goes_at_once_where_contact_is_back() -> None:
    stage = Stage([resource(A)])
    stage.link("a", "down", "connection refused")
    (job,) = stage.submit()
    assert stage.state(job) is S.WAITING
    assert "it is down: connection refused" in stage.scheduler.waits_for(job, stage.monotonic)
    stage.link("a")
    assert stage.submits[-1].ce.id == A


def test_what_bars_all_queues_of_a_site_is_said_once() -> None:
    stage = Stage([resource(A), resource(A.replace("jobmanager", "other"))])
    stage.link("a", "down", "connection refused")
    (job,) = stage.submit()
    assert stage.scheduler.waits_for(job, stage.monotonic).count("connection refused") == 1


def test_a_site_that_was_silent_for_long_is_used_at_once_though_its_figures_are_old() -> None:
    stage = Stage([resource(A)])
    stage.link("a", "retrying", "no route")
    stage.scheduler.cache.entries[A].due = stage.monotonic + 300
    stage.wait(4000)
    (job,) = stage.submit()
    assert stage.state(job) is S.WAITING
    stage.link("a")
    assert stage.state(job) is S.READY


def test_a_drained_site_says_so() -> None:
    stage = two_sites()
    stage.link("a", "drained", "for maintenance")
    closed = stage.scheduler.cache.links.at(stage.scheduler.cache.entries[A])
    assert closed is not None
    assert (closed.mark, closed.told) == ("drained", "it is drained: for maintenance")
    stage.submit()
    assert stage.submits[-1].ce.id == B


def test_a_resource_that_was_down_is_used_again_with_the_first_contact() -> None:
    stage = Stage([resource(A)])
    (job,) = stage.submit()
    stage.tell(AttemptRefused(Component(job, 1), "no answer", down=True))
    assert stage.state(job) is S.WAITING
    stage.link("a")
    assert stage.state(job) is S.READY


# --- run elsewhere


def moved() -> tuple[Stage, str]:
    """A job that runs at `a`, which is silent, and is wanted elsewhere."""
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.link("a", "down", "no route")
    stage.tell(ElsewhereAsked(job))
    stage.run()
    return stage, job


def test_a_job_wanted_elsewhere_leaves_its_site_with_a_warning_in_its_story() -> None:
    stage, job = moved()
    assert stage.submits[-1].ce.id == B
    told = next(event for event in stage.stories[job] if event.type == "job.rematched")
    assert "Warning: attempt 1 may still run at a" in told.reason
    assert (told.old, told.new, told.details["fenced"]) == (S.RUNNING, S.WAITING, 1)


def test_no_queue_of_the_site_that_was_left_is_met_again() -> None:
    stage, job = moved()
    stage.link("a")
    stage.tell(AttemptRefused(Component(job, 2), "full"))
    stage.wait(700)
    assert {submit.ce.id for submit in stage.submits[1:]} == {B}
    assert stage.scheduler.live()[0].excluded == {A, A_LONG}


def test_the_old_attempt_is_asked_to_end_and_again_as_soon_as_its_site_is_heard() -> None:
    stage, job = moved()
    assert [(one.ce.id, one.record.attempt) for one in stage.cancels] == [(A, 1)]
    stage.wait(3000)
    assert len(stage.cancels) == 1, "a site without contact is not asked in vain"
    stage.link("a")
    assert [(one.ce.id, one.record.attempt) for one in stage.cancels] == [(A, 1)] * 2
    stage.wait(25)
    assert len(stage.cancels) == 4
    stage.tell(AttemptEnded(Component(job, 1), stage.wall, failure="killed"))
    stage.wait(3000)
    assert len(stage.cancels) == 4
    assert stage.types(job)[-1] == "message_late"


def test_an_old_attempt_that_ends_well_ends_nothing_but_itself() -> None:
    stage, job = moved()
    stage.accepted(job)
    stage.tell(AttemptEnded(Component(job, 1), stage.wall, 0, started=stage.wall))
    assert (stage.state(job), stage.records[job].attempt) == (S.SCHEDULED, 2)
    stage.started(job)
    stage.ended(job, 4)
    assert stage.records[job].exit_code == 4


def test_the_fence_outlives_the_job() -> None:
    stage, job = moved()
    stage.through(job)
    assert stage.state(job) is S.DONE
    stage.link("a")
    assert [(one.ce.id, one.record.attempt) for one in stage.cancels] == [(A, 1)] * 2


@pytest.mark.parametrize("step", ["on its way", "queued"])
def test_a_job_can_be_wanted_elsewhere_before_it_runs(step: str) -> None:
    stage = two_sites()
    (job,) = stage.submit()
    if step == "queued":
        stage.accepted(job)
    stage.tell(ElsewhereAsked(job))
    stage.run()
    assert (stage.submits[-1].ce.id, stage.cancels[0].ce.id) == (B, A)


def test_a_site_that_takes_an_attempt_after_it_was_given_up_is_asked_to_end_it() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.tell(ElsewhereAsked(job))
    stage.tell(AttemptEnded(Component(job, 1), stage.wall, failure="killed"))
    stage.cancels.clear()
    stage.tell(AttemptAccepted(Component(job, 1), held=True))
    assert [(one.ce.id, one.record.attempt) for one in stage.cancels] == [(A, 1)]
    assert all(one.record.attempt == 2 for one in stage.confirms)


def test_a_job_that_nothing_else_can_run_stays_where_it_is() -> None:
    stage = Stage([resource(A)])
    (job,) = stage.submit()
    stage.accepted(job)
    stage.tell(ElsewhereAsked(job))
    assert (stage.state(job), stage.cancels) == (S.SCHEDULED, [])
    assert stage.scheduler.not_elsewhere(job) == "No other known resource could ever run it"


def test_what_was_left_is_remembered_over_a_restart() -> None:
    stage, job = moved()
    stage.tell(AttemptRefused(Component(job, 2), "full"))
    stage.restart()
    assert stage.scheduler.live()[0].excluded == {A, A_LONG}


# --- attempts given up that are alive all the same


def test_an_attempt_that_a_silent_site_may_have_is_ended_when_it_is_back() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.tell(AttemptRefused(Component(job, 1), "no answer", down=True))
    assert (stage.cancels, stage.submits[-1].ce.id) == ([], A_LONG)
    stage.link("a")
    assert stage.cancels == of_components(Cancel, stage.cancels[0].record)


@pytest.mark.parametrize("sign", ["accepted", "runs", "started"])
def test_a_refused_attempt_that_shows_signs_of_life_is_ended(sign: str) -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.tell(AttemptRefused(Component(job, 1), "queue is full"))
    signs = {
        "accepted": AttemptAccepted(Component(job, 1)),
        "runs": AttemptRuns(Component(job, 1)),
        "started": AttemptStarted(Component(job, 1), stage.wall),
    }
    stage.tell(signs[sign])
    assert [(one.ce.id, one.record.attempt) for one in stage.cancels] == [(A, 1)]
    assert (stage.state(job), stage.records[job].attempt) == (S.READY, 2)


@pytest.mark.parametrize("failure", ["lost", "lease"])
def test_a_running_job_that_its_site_lost_is_matched_again_elsewhere(failure: str) -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.ended(job, None, failure=failure, reason="Not heard of for the lease of 600 s and 60 s more")
    stage.run()
    assert stage.types(job)[-2:] == ["rematched", "matched"]
    assert stage.submits[-1].ce.id != A
    assert "Not heard of for the lease" in stage.stories[job][-2].reason
    assert stage.scheduler.live()[0].excluded == {A}


def test_a_lost_job_waits_for_the_only_site_that_can_run_it() -> None:
    stage = Stage([resource(A)])
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.link("a", "down", "no route")
    stage.ended(job, None, failure="lost")
    stage.wait(7200)
    assert stage.state(job) is S.WAITING
    stage.link("a")
    assert (stage.state(job), stage.records[job].attempt) == (S.READY, 2)


def test_a_lost_attempt_that_rises_again_is_ended() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.ended(job, None, failure="lost")
    stage.run()
    stage.tell(AttemptStarted(Component(job, 1), stage.wall))
    assert [(one.ce.id, one.record.attempt) for one in stage.cancels] == [(A, 1)]
    assert stage.records[job].attempt == 2


def test_an_interactive_job_that_its_site_lost_is_aborted_with_notice() -> None:
    able = resource(A)
    able.attributes["CrossDeskAbilities"] = ["interactive"]
    stage = Stage([able])
    (job,) = stage.submit('JobType = "Interactive"; Executable = "/bin/true";')
    stage.accepted(job)
    stage.started(job)
    stage.ended(job, None, failure="lost", reason="The node was not heard of any more")
    assert (stage.state(job), stage.records[job].reason) == (S.ABORTED, "The node was not heard of any more")


# --- starts that are not confirmed (SA-LCH-07)


def overdue() -> tuple[Stage, str]:
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.tell(AttemptRuns(Component(job, 1)))
    return stage, job


def test_a_start_not_confirmed_in_time_is_reported_and_ended_before_the_next_choice() -> None:
    stage, job = overdue()
    stage.wait(299)
    assert (stage.cancels, stage.types(job)[-1]) == ([], "scheduled")
    stage.wait(2)
    assert [one.ce.id for one in stage.cancels] == [A]
    assert stage.types(job)[-1] == "start_overdue"
    assert len(stage.submits) == 1
    stage.ended(job, None, failure="killed")
    stage.run()
    assert stage.types(job)[-2:] == ["rematched", "matched"]
    assert stage.submits[-1].ce.id != A
    assert "no start was confirmed within 300 s" in stage.stories[job][-2].reason


def test_time_in_the_queue_of_the_site_does_not_count_for_the_start() -> None:
    stage = two_sites()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.wait(10_000)
    assert stage.types(job)[-1] == "scheduled"


def test_time_without_contact_does_not_count_for_the_start() -> None:
    stage, job = overdue()
    stage.wait(100)
    stage.link("a", "retrying", "no route")
    stage.wait(1000)
    stage.link("a")
    stage.wait(299)
    assert stage.cancels == []
    stage.started(job)
    stage.wait(1000)
    assert (stage.state(job), stage.cancels) == (S.RUNNING, [])


def test_a_start_that_was_given_up_and_came_late_is_matched_again_once_it_has_ended() -> None:
    stage, job = overdue()
    stage.wait(301)
    stage.started(job)
    stage.ended(job, None, failure="killed")
    stage.run()
    assert stage.types(job)[-2:] == ["rematched", "matched"]


def test_a_program_that_ended_before_it_could_be_ended_is_done() -> None:
    stage, job = overdue()
    stage.wait(301)
    stage.ended(job, 0)
    assert (stage.state(job), len(stage.submits)) == (S.DONE, 1)


def test_a_job_that_is_moved_waits_for_a_place_elsewhere_rather_than_go_back() -> None:
    stage = Stage([resource(A, cpus=1), resource(B, cpus=1)])
    first, second = stage.submit(PLAIN, 2)
    stage.accepted(first)
    stage.tell(ElsewhereAsked(first))
    stage.run()
    assert stage.scheduler.queue_position(first) == 1, "it waits for the only place that is left to it"
    assert stage.records[second].attempt == 1
    stage.through(second)
    stage.run()
    assert stage.submits[-1].ce.id == B
