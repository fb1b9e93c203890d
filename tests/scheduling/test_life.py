"""The way of a job through the scheduler, step by step."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import AttemptRefused, AttemptStarted
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.jobs.story import failure
from broker_core.scheduling.effects import Cancel, Submit, of_components
from broker_core.scheduling.messages import CancelAsked, HoldAsked, ReleaseAsked
from tests.scheduling.stage import CE, Stage, resource

S = JobState


def test_a_job_goes_from_submitted_to_done() -> None:
    stage = Stage()
    (job,) = stage.submit()
    assert stage.submits == of_components(Submit, stage.records[job])
    assert [(one.component, one.ce.id) for one in stage.submits] == [(Component(job, 1), CE)]
    stage.through(job)
    assert stage.types(job) == ["submitted", "accepted", "matched", "scheduled", "running", "done"]
    assert stage.records[job].exit_code == 0
    assert stage.scheduler.live() == []


def test_a_non_zero_exit_code_is_done_with_that_code() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.ended(job, 3)
    assert (stage.state(job), stage.records[job].exit_code) == (S.DONE, 3)


def test_a_signal_is_an_abnormal_end_with_its_name_in_the_reason() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.ended(job, None, signal=9)
    assert stage.state(job) is S.ABORTED
    assert "SIGKILL" in stage.records[job].reason


def test_a_limit_that_was_passed_aborts_with_the_reason_of_the_site() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.ended(job, None, failure="wall-limit", reason="It ran longer than 60 s")
    assert (stage.state(job), stage.records[job].reason) == (S.ABORTED, "It ran longer than 60 s")


@pytest.mark.parametrize("started", [True, False])
def test_a_program_that_was_given_up_without_a_desk_is_never_started_again_and_its_story_says_so(
    started: bool,
) -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    if started:
        stage.started(job)
    stage.ended(job, None, failure="no-desk", reason="No desk came back.")
    assert (stage.state(job), len(stage.submits)) == (S.ABORTED, 1)
    assert failure(stage.stories[job]) == "no-desk"
    stage.ended(job, None, failure="agent")
    assert failure(stage.stories[job]) == "no-desk"


def test_lost_messages_are_made_up_for_by_those_that_follow() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.ended(job, 0, started=stage.wall)
    assert stage.types(job)[-4:] == ["matched", "scheduled", "running", "done"]


def test_a_clock_that_is_behind_neither_starts_a_job_before_it_was_sent_nor_changes_how_long_it_ran() -> None:
    stage = Stage()
    (job,) = stage.submit()
    sent = stage.wall
    stage.accepted(job)
    stage.wait(5)
    stage.tell(AttemptStarted(Component(job, 1), stage.wall - 3600))
    stage.wait(60)
    there = stage.wall - 3600
    stage.ended(job, 0, started=there - 50, time=there - 1)
    record = stage.records[job]
    assert (record.started, record.ended) == (sent, sent + 49)
    times = [event.time for event in stage.stories[job]]
    assert times == sorted(times)


def test_a_clock_that_is_behind_cancels_no_job_before_it_was_sent() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.tell(CancelAsked(job))
    stage.ended(job, None, failure="killed", time=stage.wall - 3600)
    assert stage.records[job].ended == stage.records[job].matched


def test_whole_seconds_of_a_node_do_not_put_a_start_before_the_site_had_the_job() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.wait(0.7)
    stage.accepted(job)
    stage.tell(AttemptStarted(Component(job, 1), stage.wall - 0.6))
    assert stage.records[job].started == stage.records[job].scheduled


def test_a_job_that_ran_while_the_broker_was_away_keeps_its_own_times() -> None:
    stage = Stage()
    (job,) = stage.submit()
    began = stage.wall + 10
    stage.wait(3600)
    stage.ended(job, 0, started=began, time=began + 60)
    assert (stage.records[job].started, stage.records[job].ended) == (began, began + 60)


def test_an_application_with_an_exit_code_has_run_and_is_never_started_again() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.ended(job, 0, started=None)
    assert stage.state(job) is S.DONE
    assert len(stage.submits) == 1


def test_a_late_or_repeated_message_is_recorded_and_changes_nothing() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    before = stage.records[job]
    stage.started(job)
    assert stage.types(job)[-1] == "message_late"
    assert (stage.state(job), stage.records[job].started) == (S.RUNNING, before.started)
    stage.ended(job)
    stage.ended(job, 5)
    assert len(stage.strays) == 1
    assert stage.records[job].exit_code == 0


def test_the_first_failure_before_the_start_is_tried_again_on_the_same_resource() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.ended(job, None, failure="download", reason="a file was not there")
    assert stage.types(job)[-1] == "retried"
    assert (stage.submits[-1].ce.id, stage.submits[-1].record.attempt) == (CE, 2)


def test_a_second_failure_before_the_start_leads_to_another_resource() -> None:
    stage = Stage([resource(), resource("other:1/jobmanager-fork-b", cpus=4)])
    (job,) = stage.submit()
    for _ in range(2):
        stage.accepted(job)
        stage.ended(job, None, failure="download")
    assert stage.types(job)[-3:] == ["retried", "scheduled", "rematched"] or stage.types(job)[-1] == "matched"
    stage.run()
    assert stage.submits[-1].ce.id == "other:1/jobmanager-fork-b"


def test_a_job_that_fails_to_start_everywhere_is_aborted_with_what_was_tried() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.ended(job, None, failure="executable-missing", reason="there is no program nosuch")
    stage.run()
    assert stage.state(job) is S.ABORTED
    assert "there is no program nosuch" in stage.records[job].reason


def test_a_refusal_leads_to_the_next_choice_then_to_waiting() -> None:
    stage = Stage([resource(), resource("other:1/jobmanager-fork-b", cpus=2)])
    (job,) = stage.submit()
    first = stage.submits[-1].ce.id
    stage.tell(AttemptRefused(Component(job, 1), "it is down"))
    assert stage.types(job)[-1] == "choice_failed"
    assert stage.submits[-1].ce.id != first
    stage.tell(AttemptRefused(Component(job, 2), "it is down as well"))
    assert stage.types(job)[-1] == "list_exhausted"
    assert stage.state(job) is S.WAITING


def test_after_five_rounds_the_job_is_aborted_with_the_list_of_tried_resources() -> None:
    stage = Stage()
    (job,) = stage.submit()
    for _ in range(6):
        assert stage.state(job) is S.READY
        stage.tell(AttemptRefused(Component(job, stage.records[job].attempt), "out of order"))
        stage.wait(700)
    assert stage.state(job) is S.ABORTED
    assert "out of order" in stage.records[job].reason


def test_a_full_disk_at_the_site_is_no_round_of_the_job() -> None:
    stage = Stage()
    (job,) = stage.submit()
    for _ in range(12):
        stage.tell(AttemptRefused(Component(job, stage.records[job].attempt), "no space left", counts=False))
        stage.wait(700)
    assert stage.state(job) is S.READY


def test_a_cancel_before_the_site_has_it_takes_place_at_once() -> None:
    stage = Stage([resource(cpus=1)])
    first, second = stage.submit(number=2)
    stage.tell(CancelAsked(second))
    assert stage.state(second) is S.CANCELED
    assert stage.cancels == []
    assert stage.state(first) is S.READY


def test_a_cancel_at_the_site_waits_for_the_end_of_every_process() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.tell(CancelAsked(job))
    assert (stage.state(job), stage.types(job)[-1]) == (S.RUNNING, "cancel_requested")
    assert stage.cancels == of_components(Cancel, stage.records[job])
    stage.ended(job, None, failure="killed")
    assert stage.state(job) is S.CANCELED


def test_a_cancel_while_the_site_is_asked_follows_its_answer() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.tell(CancelAsked(job))
    assert stage.cancels == of_components(Cancel, stage.records[job])
    assert stage.state(job) is S.READY
    stage.accepted(job)
    assert len(stage.cancels) == 2
    stage.ended(job, None, failure="killed")
    assert stage.state(job) is S.CANCELED


def test_a_cancel_that_no_site_confirms_is_asked_again() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.accepted(job)
    stage.tell(CancelAsked(job))
    stage.wait(25)
    assert len(stage.cancels) == 3


def test_a_held_job_waits_for_its_release() -> None:
    stage = Stage()
    (job,) = stage.submit(hold="until the data is there")
    assert (stage.state(job), stage.records[job].held) == (S.WAITING, "until the data is there")
    stage.wait(300)
    assert stage.submits == []
    stage.tell(ReleaseAsked(job))
    stage.run()
    assert (stage.state(job), stage.records[job].held) == (S.READY, "")


def test_a_hold_takes_a_job_out_of_the_queue() -> None:
    stage = Stage([resource(cpus=1)])
    running, waiting = stage.submit(number=2)
    stage.tell(HoldAsked(waiting, "not yet"))
    stage.through(running)
    assert stage.state(waiting) is S.WAITING
    assert len(stage.submits) == 1
