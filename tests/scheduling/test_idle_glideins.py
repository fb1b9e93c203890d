"""The processor of an idle glidein of the broker's own: the batch system has given it out (CB-SCH-08a)."""

from __future__ import annotations

import pytest

from broker_core.matching.own_requirements import SLOT_RULE
from broker_core.resources.record import Resource
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.slots.effects import SpareMachines
from tests.scheduling.stage import PLAIN, Stage, resource

BARE = "a:22/jobmanager-slurm-x"
SLOTS = "a:22/jobmanager-slots-x"
JOB = f"{PLAIN} Interactive = true;"


def _ended_in_a_glidein(capacity: str = "total") -> Stage:
    """A batch job had the one processor; it has ended, and its glidein is there still."""
    stage = Stage(
        [resource(BARE, cpus=1), Resource(SLOTS, "a", 1, 1, 0, 0, 0.0, {"Requirements": SLOT_RULE})],
        rules=SchedulerConfig(batch_capacity=capacity),
        able=frozenset({"interactive"}),
    )
    (batch,) = stage.submit()
    assert [one.ce.id for one in stage.submits] == [BARE]
    stage.accepted(batch)
    stage.started(batch)
    stage.tell(SpareMachines(BARE, 1))
    stage.ended(batch)
    stage.submits.clear()
    return stage


@pytest.mark.parametrize("words", ["Interactive = true;", 'JobType = "Interactive";'])
def test_an_interactive_job_goes_into_a_slot_and_not_behind_the_glidein(words: str) -> None:
    stage = _ended_in_a_glidein()
    stage.submit(f"{PLAIN} {words}")
    assert [one.ce.id for one in stage.submits] == [SLOTS]


@pytest.mark.parametrize("capacity", ["free", "total"])
def test_a_batch_job_gets_it(capacity: str) -> None:
    stage = _ended_in_a_glidein(capacity)
    stage.submit()
    assert [one.ce.id for one in stage.submits] == [BARE]


def test_once_the_glidein_has_gone_its_processor_is_free_for_all() -> None:
    stage = _ended_in_a_glidein()
    stage.tell(SpareMachines(BARE, -1))
    stage.submit(JOB)
    assert [one.ce.id for one in stage.submits] == [BARE]


def test_the_refusal_of_an_interactive_job_does_not_count_it() -> None:
    stage = _ended_in_a_glidein()
    stage.submit(JOB)
    (job,) = stage.submit(JOB)
    assert "(a: 0 of 1 slots free; a: 0 of 1 CPUs free)" in stage.records[job].reason
