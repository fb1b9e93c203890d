"""Jobs over several sites that kill what starts them, or the broker (reliability case 24)."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused
from broker_core.jobs.states import JobState as S
from broker_core.scheduling.messages import ReleaseAsked
from tests.scheduling.components import components, gathered, gone, held
from tests.scheduling.over_several import A, B, C, begun


def test_a_job_on_its_way_whenever_the_broker_dies_is_removed_everywhere_and_held() -> None:
    stage, job = begun(A, B, C)
    stage.tell(AttemptAccepted(components(stage, job)[0], held=True))
    for deaths in range(1, 6):
        stage.submits.clear()
        stage.cancels.clear()
        stage.restart(died=True)
        stage.run()
        often = deaths > 3
        assert (len(stage.submits), len(stage.cancels)) == ((0, 2) if often else (2, 0))
    one, two = components(stage, job)
    stage.tell(AttemptEnded(one, stage.wall, failure="killed"))
    assert stage.state(job) is S.READY
    stage.tell(AttemptRefused(two, "Canceled before the site had it"))
    assert (stage.state(job), stage.types(job)[-2:]) == (S.WAITING, ["rematched", "held"])
    assert "the job may be the cause" in stage.records[job].held
    assert all(stage.scheduler.cache.commitments_at(ce) == {} for ce in (A, B, C))
    stage.submits.clear()
    stage.restart(died=True)
    stage.run()
    assert stage.submits == []
    stage.tell(ReleaseAsked(job))
    stage.run()
    assert (stage.state(job), len(stage.submits)) == (S.READY, 2)


@pytest.mark.parametrize("computes", [True, False], ids=["computing", "gathering"])
def test_a_job_whose_nodes_die_wherever_it_runs_is_held(computes: bool) -> None:
    stage, job = begun(A, B, C)
    died: list[str] = []
    for _ in range(20):
        if stage.records[job].held:
            break
        held(stage, job)
        if computes:
            gathered(stage, job)
        failure = "lost" if computes else "starter"
        where = [one.ce.site for one in stage.records[job].placements]
        # Before the program began each site counts once.
        dead = components(stage, job)[where[0] in died]
        died.append(where[dead.index])
        stage.tell(AttemptEnded(dead, stage.wall, failure=failure))
        gone(stage, job)
        stage.run()
        for _ in range(20):  # sites that failed it rest
            if stage.state(job) is S.WAITING and not stage.records[job].held:
                stage.wait(600)
    assert "What starts it died 3 times" in stage.records[job].held
    assert stage.types(job).count("rematched") >= 3


def test_a_node_that_is_lost_while_all_compute_is_no_fault_of_the_job() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    gathered(stage, job)
    one, two = components(stage, job)
    stage.tell(AttemptEnded(two, stage.wall, failure="lost", reason="its node is gone"))
    assert ([each.component for each in stage.cancels], stage.state(job)) == ([one], S.RUNNING)
    stage.tell(AttemptEnded(one, stage.wall, failure="killed"))
    assert stage.types(job)[-1] == "rematched"
    assert stage.records[job].reason == f"{B}: its node is gone"
