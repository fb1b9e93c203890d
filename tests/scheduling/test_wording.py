"""Why a job that was sent to a site has not moved on: in one place, for every view."""

from __future__ import annotations

from dataclasses import replace

from broker_core.jobs.events import EventSource
from broker_core.jobs.placement import shared
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.queue.arrivals import taken_over
from broker_core.scheduling.wording import IN_QUEUE, waits_at_site
from tests.scheduling.stage import Stage

READY = JobRecord(
    *("j", "ann", "n", "Normal", False, 1, JobState.READY, ""),
    placements=shared(("a:22/jobmanager-slurm-q",), 1),
)


def test_what_a_job_waits_for_at_its_site_follows_its_state() -> None:
    queued = replace(READY, state=JobState.SCHEDULED, reason=IN_QUEUE)
    assert waits_at_site(READY) == "Waits for a to accept it"
    assert waits_at_site(READY, silent=True).startswith("Waits until a is connected again")
    assert waits_at_site(queued) == "Waits in the queue of a for its turn"
    assert waits_at_site(replace(queued, reason="Priority")).endswith("for its turn. Priority")
    assert waits_at_site(replace(queued, canceling=1.0)).startswith("Waits for a to confirm")
    for state in (JobState.SUBMITTED, JobState.WAITING, JobState.RUNNING, JobState.DONE):
        assert waits_at_site(replace(READY, state=state)) == ""
    assert waits_at_site(replace(READY, state=JobState.ABORTED, canceling=1.0)) == ""


def test_a_sweep_is_taken_over_as_its_jobs_would_be_one_by_one() -> None:
    stage = Stage([])
    (job,) = stage.submit(hold="by ann")
    submitted, *one_by_one = stage.stories[job]
    together = taken_over(submitted, "by ann")
    assert [one.type for one in together] == [EventType.ACCEPTED, EventType.HELD]
    assert [(one.type, one.new, one.reason, one.seq) for one in together] == [
        (one.type, one.new, one.reason, one.seq) for one in one_by_one
    ]
    assert {one.source for one in together} == {EventSource.SCHEDULER}
    assert len(taken_over(submitted, "")) == 1
