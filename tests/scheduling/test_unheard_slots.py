"""Interactive jobs while the slots of sites are not known yet, as after a start of the broker (CB-SCH-08)."""

from __future__ import annotations

from broker_core.jobs.states import JobState
from broker_core.scheduling.messages import SlotsUnheard
from broker_core.scheduling.queue.admission import PATIENCE
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
QUEUE = "a:22/jobmanager-slurm-x"
SLOTS = "a:22/jobmanager-slots-x"
JOB = f"{PLAIN} Interactive = true;"


def full(*sites: str) -> Stage:
    """A site without a free processor, and sites whose slots are not known yet."""
    stage = Stage([resource(QUEUE, cpus=2, free=0)], able=frozenset({"interactive"}))
    stage.tell(SlotsUnheard(sites))
    return stage


def test_an_interactive_job_waits_for_the_first_word_of_the_slots_and_starts_in_one() -> None:
    stage = full("a")
    (job,) = stage.submit(JOB)
    assert stage.state(job) is S.WAITING
    assert stage.records[job].reason == "Waits a moment for word of the slots at a"
    stage.refresh(resource(QUEUE, cpus=2, free=0), resource(SLOTS, cpus=1, free=1))
    stage.run()
    assert [one.ce.id for one in stage.submits] == [SLOTS]


def test_it_is_refused_with_the_counts_once_there_is_none() -> None:
    stage = full("a")
    (job,) = stage.submit(JOB)
    stage.refresh(resource(QUEUE, cpus=2, free=0), resource(SLOTS, cpus=1, free=0))
    stage.tell(SlotsUnheard(()))
    stage.run()
    assert stage.state(job) is S.ABORTED
    said = stage.records[job].reason
    assert "a: 0 of 2 CPUs free" in said
    assert "a: 0 of 1 slots free" in said
    assert said.endswith("Submit it again later, or as a batch job")


def test_it_waits_for_no_other_site_and_not_for_ever() -> None:
    stage = full("b")
    (pinned,) = stage.submit(JOB, site="a")
    assert stage.state(pinned) is S.ABORTED
    (job,) = stage.submit(JOB)
    assert stage.state(job) is S.WAITING
    stage.wait(PATIENCE + 1)
    assert stage.state(job) is S.ABORTED
