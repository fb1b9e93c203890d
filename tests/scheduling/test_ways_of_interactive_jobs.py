"""Where an interactive job starts: free processors before virtual slots, or by setting (CB-SCH-08a)."""

from __future__ import annotations

import pytest

from broker_core.jobs.states import JobState
from broker_core.policies.applied import by_ways
from broker_core.policies.built_in import first_fit
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.messages import PoliciesChosen
from broker_core.scheduling.slots.interactive import InteractiveMode
from tests.scheduling.stage import PLAIN, Stage, matched, resource

M = InteractiveMode
BARE = "z:22/jobmanager-slurm-x"
SLOTS = "a:22/jobmanager-slots-x"
JOB = f"{PLAIN} Interactive = true;"


def stage(mode: InteractiveMode, free: int) -> Stage:
    """A site with processors, and a slot that fits better and is named first."""
    return Stage(
        [resource(BARE, cpus=4, free=free), resource(SLOTS, cpus=1)],
        rules=SchedulerConfig(interactive_mode=mode),
        able=frozenset({"interactive"}),
    )


@pytest.mark.parametrize("policy", [None, first_fit])
@pytest.mark.parametrize(
    ("mode", "free", "where"),
    [
        (M.FREE_FIRST, 2, BARE), (M.FREE_FIRST, 0, SLOTS), (M.SLOTS_FIRST, 2, SLOTS), (M.EXCLUSIVE, 2, BARE),
        (M.EXCLUSIVE, 0, ""),
    ],
)  # fmt: skip
def test_an_interactive_job_takes_the_first_way_that_there_is(
    mode: InteractiveMode, free: int, where: str, policy: object
) -> None:
    made = stage(mode, free)
    if policy is not None:
        made.tell(PoliciesChosen(order=first_fit))
    (job,) = made.submit(JOB)
    assert [one.ce.id for one in made.submits] == ([where] if where else [])
    assert made.state(job) is (JobState.READY if where else JobState.ABORTED)


def test_list_match_shows_them_in_the_same_order() -> None:
    made = stage(M.FREE_FIRST, 2)
    (job,) = made.submit(JOB)
    live = made.scheduler.job(job)
    assert live is not None
    found = made.scheduler.cache.pool(0.0)
    matches = matched(live.demand, found, 0, frozenset({"interactive"}))
    ces = [found.columns.ces[row] for row in matches.candidates.rows]
    assert set(ces) == {BARE, SLOTS}
    for slots_first, order in ((False, [BARE, SLOTS]), (True, [SLOTS, BARE])):
        shown = by_ways(matches, slots_first).candidates.rows
        assert [found.columns.ces[row] for row in shown] == order
