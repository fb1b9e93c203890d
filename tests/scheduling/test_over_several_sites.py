"""Jobs over several sites in the production scheduler: their steps come from the co-allocation."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused, AttemptStarted
from broker_core.jobs.components import INDEX, STEP
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState as S
from broker_core.scheduling.coallocation.messages import (
    ComponentGathered,
    EndLauncher,
    LauncherLost,
    ReleaseBarrier,
)
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.messages import CancelAsked, ElsewhereAsked
from tests.scheduling.components import components, gathered, gone, held, together
from tests.scheduling.over_several import JOB, A, B, C, begun, sites
from tests.scheduling.stage import Stage


def test_a_job_that_fits_on_no_one_site_runs_over_two_and_is_done_when_both_have_ended() -> None:
    stage, job = begun(A, B)
    one, two = components(stage, job)
    assert [(each.ce.id, each.component) for each in stage.submits] == [(A, one), (B, two)]
    assert (
        stage.scheduler.cache.commitments_at(A)[job].cpus + stage.scheduler.cache.commitments_at(B)[job].cpus
        == 6
    )
    stage.tell(AttemptAccepted(two, held=True))
    assert (stage.state(job), stage.confirms) == (S.READY, [])
    stage.tell(AttemptAccepted(one, held=True))
    assert (stage.state(job), len(stage.confirms)) == (S.SCHEDULED, 2)
    stage.tell(AttemptStarted(one, stage.wall))
    stage.tell(ComponentGathered(two))
    assert stage.state(job) is S.SCHEDULED
    assert stage.records[job].reason == "1 of 2 components reached MPI_Init"
    stage.tell(ComponentGathered(one))
    assert (stage.state(job), stage.releases) == (S.RUNNING, [ReleaseBarrier(job, 1)])
    stage.tell(AttemptEnded(one, stage.wall, 0))
    assert stage.state(job) is S.RUNNING
    stage.tell(AttemptEnded(two, stage.wall, 0))
    assert (stage.state(job), stage.records[job].exit_code) == (S.DONE, 0)
    assert [one for one in stage.types(job) if one != "component_changed"] == [
        "submitted", "accepted", "matched", "scheduled", "running", "done",
    ]  # fmt: skip
    assert [(one.details[INDEX], one.details[STEP]) for one in stage.stories[job] if STEP in one.details] == [
        (1, "accepted"), (0, "accepted"), (0, "started"), (1, "gathered"), (0, "gathered"),
        (0, "ended"), (1, "ended"),
    ]  # fmt: skip


def test_two_queues_of_one_site_are_no_set_and_the_job_says_why_it_waits() -> None:
    stage, job = begun("a1:22/jobmanager-slurm-x", "a2:22/jobmanager-slurm-x")
    assert (stage.state(job), stage.submits) == (S.WAITING, [])
    assert stage.records[job].reason == (
        "No site fits: all resources that match, of which one queue of each site counts, do not have 6 CPUs"
        " together"
    )


def test_a_refusal_is_followed_by_the_next_choice_once_nothing_is_left() -> None:
    stage, job = begun(A, B, C)
    first = {each.ce.id for each in stage.submits}
    one, two = components(stage, job)
    stage.tell(AttemptAccepted(one, held=True))
    stage.tell(AttemptRefused(two, "queue is closed"))
    assert len(stage.submits) == 2
    stage.tell(AttemptEnded(one, stage.wall, failure="killed"))
    assert stage.types(job)[-1] == "choice_failed"
    assert {each.ce.id for each in stage.submits[2:]} != first


def test_a_component_that_fails_while_all_run_ends_the_others_and_the_job() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    gathered(stage, job)
    one, two = components(stage, job)
    stage.tell(AttemptEnded(two, stage.wall, 7, error_line="no more"))
    assert ([each.component for each in stage.cancels], stage.state(job)) == ([one], S.RUNNING)
    assert stage.launcher_ends == [EndLauncher(job, 1)]
    stage.tell(AttemptEnded(one, stage.wall, failure="killed"))
    record = stage.records[job]
    assert (record.state, record.exit_code, record.error_line) == (S.ABORTED, 7, "no more")
    assert record.reason == f"{B}: it ended with exit code 7"


@pytest.mark.parametrize("ends", [1, 2])
def test_an_end_before_mpi_init_is_tried_once_more_and_then_elsewhere(ends: int) -> None:
    stage, job = begun(A, B)
    for _ in range(ends):
        held(stage, job)
        stage.tell(AttemptEnded(components(stage, job)[0], stage.wall, 1))
        gone(stage, job)
        stage.run()
    if ends == 1:
        assert stage.types(job)[-1] == "retried"
        together(stage, job, 2)
        assert stage.state(job) is S.DONE
    else:
        assert "a firewall may be in the way" in stage.stories[job][-1].reason + stage.stories[job][-2].reason
        assert "rematched" in stage.types(job)


def test_a_job_is_not_kept_from_sites_without_which_it_has_no_room_anywhere() -> None:
    """Else it would wait for ever, and hold back all others (reliability case 14)."""
    stage = Stage(sites(A, B, C, "d:22/jobmanager-slurm-x"))
    (job,) = stage.submit(JOB.replace("= 6", "= 12"))
    for _ in range(2):
        held(stage, job, 3)
        stage.tell(AttemptEnded(components(stage, job)[0], stage.wall, 1))
        gone(stage, job, 3)
        stage.run()
    assert "rematched" in stage.types(job)
    assert (stage.state(job), stage.records[job].attempt) == (S.READY, 3)


def test_the_gather_time_out_ends_all_and_the_job_is_matched_again() -> None:
    stage, job = begun(A, B, rules=SchedulerConfig(gather_timeout=50))
    held(stage, job)
    stage.tell(ComponentGathered(components(stage, job)[0]))
    stage.wait(49)
    assert stage.cancels == []
    stage.wait(2)
    assert [each.component for each in stage.cancels] == components(stage, job)
    gone(stage, job)
    assert "rematched" in stage.types(job)
    assert any(
        each.reason == "1 of 2 components reached MPI_Init within 50 s." for each in stage.stories[job]
    )


def test_what_does_not_end_is_canceled_again_until_it_does() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    stage.tell(CancelAsked(job))
    stage.tell(AttemptEnded(components(stage, job)[0], stage.wall, failure="killed"))
    stage.cancels.clear()
    stage.wait(61)
    assert [each.component for each in stage.cancels] == [components(stage, job)[1]]
    stage.cancels.clear()
    stage.link("b")
    assert [each.component for each in stage.cancels] == [components(stage, job)[1]]


@pytest.mark.parametrize("accepted", [0, 1, 2])
def test_a_cancel_ends_all_components_before_the_job_is_canceled(accepted: int) -> None:
    stage, job = begun(A, B)
    one, two = components(stage, job)
    for each in (one, two)[:accepted]:
        stage.tell(AttemptAccepted(each, held=True))
    stage.tell(CancelAsked(job))
    assert {each.component for each in stage.cancels} == {one, two}
    stage.tell(AttemptEnded(one, stage.wall, failure="killed"))
    assert stage.state(job).active
    stage.tell(AttemptRefused(two, "Canceled before the site had it"))
    assert stage.state(job) is S.CANCELED
    assert all(stage.scheduler.cache.commitments_at(ce) == {} for ce in (A, B))


def test_a_broker_that_is_killed_goes_on_where_the_job_was() -> None:
    stage, job = begun(A, B)
    stage.restart(died=True)
    assert [each.component for each in stage.submits[2:]] == components(stage, job)
    assert sum(each.cpus for ce in (A, B) for each in stage.scheduler.cache.commitments_at(ce).values()) == 6
    held(stage, job)
    stage.confirms.clear()
    stage.restart(died=True)
    assert [each.component for each in stage.confirms] == components(stage, job)
    gathered(stage, job)
    assert stage.state(job) is S.RUNNING
    stage.restart(died=True)
    gone(stage, job, code=0)
    assert stage.state(job) is S.DONE
    assert len(stage.submits) == 4


def test_a_broker_that_is_killed_while_all_are_ended_ends_them_again() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    stage.tell(CancelAsked(job))
    stage.cancels.clear()
    stage.restart(died=True)
    assert [each.component for each in stage.cancels] == components(stage, job)
    gone(stage, job)
    assert stage.state(job) is S.CANCELED


def test_a_launcher_that_is_lost_before_the_barrier_begins_the_job_anew() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    stage.tell(LauncherLost(job, 1))
    gone(stage, job)
    stage.run()
    assert "rematched" in stage.types(job)
    assert stage.records[job].attempt == 2


def test_a_late_word_of_an_older_attempt_ends_that_one_alone() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    stage.tell(AttemptEnded(Component(job, 1), stage.wall, 1))
    stage.tell(AttemptEnded(Component(job, 1, 1), stage.wall, failure="killed"))
    before = stage.records[job].attempt
    stage.tell(ElsewhereAsked(job))
    stage.tell(AttemptStarted(Component(job, 1), stage.wall))
    assert (stage.records[job].attempt, stage.state(job)) == (before, S.READY)
    assert stage.scheduler.not_elsewhere(job) == "It runs over several sites: cancel it and submit it again"


def test_each_site_has_its_own_components_and_a_job_at_one_has_one_there() -> None:
    stage, job = begun(A, B)
    one, two = components(stage, job)
    record = stage.records[job]
    assert [record.components_at(name) for name in ("a", "b", "c")] == [[one], [two], []]


def test_a_job_at_one_site_has_one_component_there() -> None:
    stage = Stage(sites(C))
    (job,) = stage.submit('Executable = "/bin/true";')
    live, record = stage.scheduler.job(job), stage.records[job]
    assert live is not None
    live.shares = ()  # so a version before this one recorded it
    assert live.placements == record.placements
    assert len(record.placements) == 1
    assert record.components_at("c") == [Component(job, 1)]
