"""Parallel interactive jobs on free processors and in virtual slots of one site (CB-SCH-08, rule 5)."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused, AttemptStarted
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.matching.own_requirements import SLOT_RULE
from broker_core.policies.built_in import first_fit
from broker_core.resources.record import Resource
from broker_core.scheduling.coallocation.messages import ComponentGathered
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.messages import PoliciesChosen
from broker_core.scheduling.slots.effects import SlotsRefused
from broker_core.scheduling.slots.interactive import InteractiveMode
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import SlotUse
from tests.scheduling.components import components, gathered, gone
from tests.scheduling.stage import Stage, matched

M = InteractiveMode
BARE, SLOTS = (f"a:22/jobmanager-{system}-x" for system in ("slurm", "slots"))
JOB = 'JobType = "Parallel"; SubJobType = "mpich"; NodeNumber = {}; Executable = "/bin/true"; {}'
PLAIN_KIND = JOB.replace('"mpich"', '"plain"')
INTERACTIVE = "Interactive = true;"
ABLE = frozenset({"interactive"})


def site(name: str = "a", free: int = 1, slots: int = 2, cpus: int = 4) -> list[Resource]:
    """Processors of a queue that has MPICH, and the slots of its glideins."""
    able = {"CrossDeskAbilities": ["mpi:mpich"]}
    bare = Resource(f"{name}:22/jobmanager-slurm-x", name, cpus, free, 0, 0, 0.0, able)
    row = f"{name}:22/jobmanager-slots-x"
    beside = Resource(row, name, 2, slots, 0, 0, 0.0, able | {"Requirements": SLOT_RULE})
    return [bare, beside]


def stage(*resources: Resource, mode: InteractiveMode = M.FREE_FIRST) -> Stage:
    rules = SchedulerConfig(interactive_mode=mode)
    return Stage(list(resources or site()), rules=rules, able=ABLE)


def parts(made: Stage, job: str) -> list[tuple[str, int]]:
    """Where the components of a job are, with their processors."""
    live = made.scheduler.job(job)
    assert live is not None
    assert len(made.submits) == len(live.ces)
    return [(one.ce.id, one.cpus) for one in live.placements]


@pytest.mark.parametrize("policy", [None, first_fit])
@pytest.mark.parametrize(
    ("mode", "free", "cpus", "where"),
    [
        (M.FREE_FIRST, 1, 3, [(BARE, 1), (SLOTS, 1), (SLOTS, 1)]),
        (M.FREE_FIRST, 2, 3, [(BARE, 2), (SLOTS, 1)]),
        (M.FREE_FIRST, 3, 3, [(BARE, 3)]),
        (M.FREE_FIRST, 0, 2, [(SLOTS, 1), (SLOTS, 1)]),
        (M.SLOTS_FIRST, 2, 2, [(SLOTS, 1), (SLOTS, 1)]),
        (M.SLOTS_FIRST, 2, 3, [(BARE, 1), (SLOTS, 1), (SLOTS, 1)]),
        (M.EXCLUSIVE, 2, 2, [(BARE, 2)]),
    ],
)
def test_it_has_free_processors_else_slots_else_both(
    mode: InteractiveMode, free: int, cpus: int, where: list[tuple[str, int]], policy: object
) -> None:
    made = stage(*site(free=free), mode=mode)
    if policy is not None:
        made.tell(PoliciesChosen(order=first_fit))
    (job,) = made.submit(JOB.format(cpus, INTERACTIVE))
    assert parts(made, job) == where


def test_the_way_counts_before_the_site_and_among_equals_the_policy() -> None:
    made = stage(*site("b", free=1, slots=2), *site("c", free=0, slots=2), *site("d", free=4, slots=2))
    assert [one for one, _ in parts(made, made.submit(JOB.format(2, INTERACTIVE))[0])] == [
        "d:22/jobmanager-slurm-x"
    ]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (JOB.format(4, INTERACTIVE), M.FREE_FIRST),
        (JOB.format(2, INTERACTIVE), M.EXCLUSIVE),
        (JOB.format(2, INTERACTIVE + "HostNumber = 2;"), M.FREE_FIRST),
        (PLAIN_KIND.format(2, INTERACTIVE), M.FREE_FIRST),
    ],
    ids=["too-many", "exclusive", "nodes", "one-program"],
)
def test_what_cannot_be_had_is_refused_with_what_there_is(text: str, mode: InteractiveMode) -> None:
    made = stage(mode=mode)
    (job,) = made.submit(text)
    assert made.state(job) is JobState.ABORTED
    slots = " and 2 of 2 slots" if text == JOB.format(4, INTERACTIVE) else ""
    assert f"every matching resource is busy (a: 1 of 4 CPUs{slots} free)" in made.records[job].reason


def test_slots_that_a_job_has_are_not_given_to_the_next_nor_are_they_taken_from_it() -> None:
    made = stage()
    (first,) = made.submit(JOB.format(3, INTERACTIVE))
    (second,) = made.submit(JOB.format(2, INTERACTIVE))
    assert (made.state(first), made.state(second)) == (JobState.READY, JobState.ABORTED)
    assert not made.cancels


def test_list_match_counts_slots_as_free_processors_for_it_alone() -> None:
    made = stage(*site(), *site("b", slots=1))
    (job,) = made.submit(JOB.format(3, INTERACTIVE))
    live, batch = made.scheduler.job(job), made.scheduler.job(made.submit(JOB.format(3, ""))[0])
    assert live is not None
    assert batch is not None
    made = stage(*site(), *site("b", slots=1))
    pool = made.scheduler.pool(made.monotonic)
    assert made.scheduler.seen_by(batch.demand.description, pool) is pool
    seen = made.scheduler.seen_by(live.demand.description, pool)
    candidates = matched(live.demand, seen, 0, ABLE).candidates
    assert [seen.columns.ces[row] for row in candidates.rows] == [BARE]


def test_a_batch_job_is_in_no_slots() -> None:
    made = stage()
    (job,) = made.submit(JOB.format(3, ""))
    assert made.state(job) is JobState.WAITING


def test_what_began_in_a_slot_before_the_others_were_accepted_counts_for_the_barrier() -> None:
    made = stage()
    (job,) = made.submit(JOB.format(3, INTERACTIVE))
    bare, first, second = components(made, job, 3)
    made.tell(ComponentGathered(first))
    made.tell(AttemptAccepted(first))
    made.tell(AttemptStarted(second, made.wall))
    assert made.state(job) is JobState.READY
    made.tell(AttemptAccepted(bare, held=True))
    assert made.state(job) is JobState.SCHEDULED
    made.tell(ComponentGathered(second))
    assert not made.releases
    made.tell(ComponentGathered(bare))
    assert made.state(job) is JobState.RUNNING
    gone(made, job, 3, 0)
    assert made.state(job) is JobState.DONE
    made.tell(AttemptRefused(bare, "late"))


def test_slots_that_were_lost_before_the_start_end_it_with_the_reason_once_nothing_is_left() -> None:
    made = stage()
    (job,) = made.submit(JOB.format(3, INTERACTIVE))
    payloads = tuple(Payload(Component(job, 1, index), "ann", "", SlotUse.INTERACTIVE) for index in (1, 2))
    made.tell(SlotsRefused(payloads, "no slot2 is free now"))
    assert made.state(job) is JobState.READY
    assert [one.component.index for one in made.cancels] == [0, 2]
    made.tell(AttemptEnded(Component(job, 1), made.wall, failure="killed"))
    made.run()
    assert made.state(job) is JobState.ABORTED
    assert "no slot2 is free now" in made.records[job].reason


def test_one_that_is_not_there_in_time_is_given_up_as_no_job_waits_at_a_site() -> None:
    made = stage()
    (job,) = made.submit(JOB.format(3, INTERACTIVE))
    for one in components(made, job, 3):
        made.tell(AttemptAccepted(one, held=True))
    gathered(made, job, 2)
    made.wait(made.rules.interactive_start + 1)
    gone(made, job, 3)
    assert made.state(job) is JobState.ABORTED
    assert "2 of 3 components reached MPI_Init within 120 s" in made.records[job].reason
