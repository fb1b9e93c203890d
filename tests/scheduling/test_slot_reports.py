"""What the glidein monitor lets the scheduler know of payloads (CB-GLI-14, CB-GLI-15)."""

from __future__ import annotations

from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.scheduling.slots.effects import (
    GlideinUnavailable,
    PayloadLost,
    PayloadReturned,
    SlotsRefused,
)
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import SlotUse
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
SLOTS = "a:22/jobmanager-slots-x"


def payload(job: str, use: SlotUse = SlotUse.BATCH, attempt: int = 1) -> Payload:
    return Payload(Component(job, attempt), "ann", "", use)


def test_an_interactive_job_without_a_slot_is_refused_with_the_reason() -> None:
    stage = Stage([resource(SLOTS)], able=frozenset({"interactive"}))
    (job,) = stage.submit(f"{PLAIN} Interactive = true;")
    stage.tell(SlotsRefused((payload(job, SlotUse.INTERACTIVE),), "no slot2 is free now"))
    stage.run()
    assert stage.state(job) is S.ABORTED
    assert "no slot2 is free now" in stage.records[job].reason


def test_a_batch_job_whose_glidein_never_joined_is_tried_again() -> None:
    stage = Stage()
    (on_its_way,) = stage.submit()
    stage.tell(GlideinUnavailable(payload(on_its_way), "its node is not fit"))
    assert "its node is not fit" in stage.records[on_its_way].reason
    stage = Stage()
    (queued,) = stage.submit()
    stage.accepted(queued)
    stage.tell(PayloadReturned(payload(queued), "it was not started"))
    assert (stage.types(queued)[-1], stage.submits[-1].component.attempt) == ("retried", 2)
    stage.tell(SlotsRefused((payload(queued),), "late"))
    assert stage.state(queued) is S.READY, "an earlier attempt says nothing of this one"


def test_a_batch_job_that_was_lost_with_its_glidein_runs_again_and_one_that_is_over_does_not() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.started(job)
    stage.tell(PayloadLost(payload(job), "its glidein was lost", again=True))
    stage.run()
    assert stage.submits[-1].component == Component(job, 2)
    stage.started(job)
    stage.ended(job, 0)
    before = len(stage.submits)
    stage.tell(PayloadLost(payload(job, attempt=2), "its glidein was lost", again=True))
    assert stage.state(job) is S.DONE
    assert len(stage.submits) == before


def test_a_batch_job_that_made_room_runs_again_and_nothing_counts_against_it_or_its_site() -> None:
    stage = Stage()
    (job,) = stage.submit()
    for number in range(stage.rules.max_rematch + 2):
        stage.accepted(job)
        if number:  # the first time it has not begun yet
            stage.started(job)
        attempt = stage.records[job].attempt
        stage.tell(PayloadReturned(payload(job, attempt=attempt), "it made room", blameless=True))
        stage.run()
        assert "rematched" in stage.types(job)
        assert stage.records[job].attempt == attempt + 1, "it goes where it was, at once"
    assert any("made room" in event.reason for event in stage.stories[job])
