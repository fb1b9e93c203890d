"""The table of errors, row by row, each reaction visible in the story (CB-ERR-1 to 7), and poison jobs."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptFound, AttemptRefused
from broker_core.jobs.events import EventSource
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.scheduling.live_job import IN_DOUBT
from broker_core.scheduling.messages import CancelAsked, ReleaseAsked
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
A, B, C = (f"{name}:22/jobmanager-slurm-x" for name in "abc")
SET = 'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 4; Executable = "/bin/true";'


def sites(*names: str) -> Stage:
    return Stage([resource(name, cpus=2 + place) for place, name in enumerate(names)])


def told(stage: Stage, job: str, kind: str) -> str:
    return next(event.reason for event in reversed(stage.stories[job]) if event.type == f"job.{kind}")


def test_row_1_a_resource_that_is_down_is_marked_and_the_next_one_taken() -> None:
    stage = sites(A, B)
    (job,) = stage.submit()
    stage.tell(AttemptRefused(Component(job, 1), "connection refused", down=True))
    trouble = stage.scheduler.cache.troubles.at(A, stage.monotonic)
    assert trouble is not None
    assert trouble.down
    assert told(stage, job, "choice_failed") == f"{A} refused it: connection refused; trying {B}"


def test_row_2_a_failing_submission_marks_the_resource_for_a_while() -> None:
    stage = sites(A, B)
    (job,) = stage.submit()
    stage.tell(AttemptRefused(Component(job, 1), "sbatch: invalid partition"))
    trouble = stage.scheduler.cache.troubles.at(A, stage.monotonic)
    assert trouble is not None
    assert not trouble.down
    assert "sbatch: invalid partition" in told(stage, job, "choice_failed")
    stage.wait(700)
    assert stage.scheduler.cache.troubles.at(A, stage.monotonic) is None


def test_row_3_once_more_on_the_same_resource_then_elsewhere_and_never_there_again() -> None:
    stage = sites(A, B)
    (job,) = stage.submit()
    stage.ended(job, None, failure="download", reason="a file was not there")
    assert (stage.submits[-1].ce.id, told(stage, job, "retried")) == (
        A,
        "Once more on the same resource: a file was not there",
    )
    stage.ended(job, None, failure="download", reason="a file was not there")
    stage.run()
    assert (stage.submits[-1].ce.id, told(stage, job, "rematched")) == (
        B,
        f"Given up at {A}: a file was not there",
    )
    assert stage.scheduler.live()[0].excluded == {A}


def test_row_3_is_remembered_over_a_restart() -> None:
    stage = sites(A, B)
    (job,) = stage.submit()
    stage.ended(job, None, failure="download")
    stage.restart()
    stage.ended(job, None, failure="download")
    stage.run()
    assert stage.submits[-1].ce.id == B, "the second try was had before the restart"


def test_row_5_an_abnormal_end_of_the_program_itself_aborts_and_says_so() -> None:
    stage = sites(A, B)
    (job,) = stage.submit()
    stage.accepted(job)
    stage.started(job)
    stage.ended(job, None, signal=11)
    assert stage.state(job) is S.ABORTED
    assert told(stage, job, "aborted") == "The application was ended by signal 11 (SIGSEGV) at a"


def test_row_6_rounds_are_counted_over_restarts() -> None:
    stage = sites(A)
    (job,) = stage.submit()
    for _ in range(5):
        stage.tell(AttemptRefused(Component(job, stage.records[job].attempt), "out of order"))
        stage.wait(700)
        stage.restart()
        stage.run()
    assert stage.state(job) is S.READY
    stage.tell(AttemptRefused(Component(job, stage.records[job].attempt), "out of order"))
    assert stage.state(job) is S.ABORTED
    assert told(stage, job, "aborted").startswith("Given up after 5 rounds of matching. Tried: a:22")
    assert told(stage, job, "aborted").count("out of order") == 1
    assert stage.stories[job][-1].details["tried"][-1] == {"ces": [A], "error": "out of order"}


def together() -> tuple[Stage, str]:
    """A job over two sites."""
    able = [resource(A, cpus=2), resource(B, cpus=2)]
    for one in able:
        one.attributes["CrossDeskAbilities"] = ["inter-cluster"]
        one.attributes["GlueHostApplicationSoftwareRunTimeEnvironment"] = ["PACX-MPI"]
        one.attributes["GlueHostNetworkAdapterInboundIP"] = True
    stage = Stage(able)
    (job,) = stage.submit(SET)
    assert [(one.ce.id, one.component) for one in stage.submits] == [
        (A, Component(job, 1)),
        (B, Component(job, 1, 1)),
    ]
    return stage, job


def test_row_7_where_one_component_is_refused_all_others_are_removed_and_everything_freed() -> None:
    stage, job = together()
    stage.tell(AttemptRefused(Component(job, 1), "queue is closed"))
    assert [(one.ce.id, one.component) for one in stage.cancels] == [(B, Component(job, 1, 1))]
    assert stage.scheduler.leaving(job)
    stage.tell(AttemptEnded(Component(job, 1, 1), stage.wall, failure="killed"))
    cache = stage.scheduler.cache
    assert all(cache.commitments_at(ce) == {} for ce in (A, B))
    assert all(cache.lock_of(ce, stage.monotonic) is None for ce in (A, B))


def test_row_7_where_one_component_ends_early_the_others_are_removed_before_the_second_try() -> None:
    stage, job = together()
    for index in (0, 1):
        stage.tell(AttemptAccepted(Component(job, 1, index), held=True))
    stage.ended(job, 1)
    assert [(one.ce.id, one.component) for one in stage.cancels] == [(B, Component(job, 1, 1))]
    assert len(stage.submits) == 2
    stage.tell(AttemptEnded(Component(job, 1, 1), stage.wall, failure="killed"))
    assert [(one.ce.id, one.component.attempt) for one in stage.submits[2:]] == [(A, 2), (B, 2)]


# --- poison jobs (reliability case 24)


def test_a_job_on_its_way_whenever_the_broker_dies_is_not_handed_over_again_and_held() -> None:
    stage = sites(A, B)
    (job,) = stage.submit()
    for deaths in range(1, 5):
        stage.submits.clear()
        stage.restart(died=True)
        stage.run()
        assert stage.types(job)[-1] == "broker_died"
        assert len(stage.submits) == (deaths <= 3)
    stage.ended(job, None, failure="lost", reason="The site has no such attempt.")
    assert (stage.state(job), stage.types(job)[-2:]) == (S.WAITING, ["rematched", "held"])
    assert "the job may be the cause" in stage.records[job].held
    stage.restart(died=True)
    stage.run()
    assert stage.submits == []
    stage.tell(ReleaseAsked(job))
    stage.run()
    assert stage.state(job) is S.READY


def test_a_suspect_that_its_site_has_goes_on_as_if_nothing_had_happened() -> None:
    stage = sites(A)
    (job,) = stage.submit()
    for _ in range(4):
        stage.restart(died=True)
    assert stage.scheduler.live()[0].attempt is IN_DOUBT
    stage.started(job)
    stage.ended(job)
    assert stage.state(job) is S.DONE


def test_only_of_a_suspect_is_it_an_acceptance_that_its_site_has_it() -> None:
    stage = sites(A, B)
    suspect, other = stage.submit(number=2)
    stage.tell(AttemptFound(Component(other, 1), "7"))
    assert (stage.state(other), stage.strays) == (S.READY, [])
    for _ in range(4):
        stage.restart(died=True)
    stage.tell(AttemptFound(Component(suspect, 2), "8"))
    stage.tell(AttemptFound(Component("unknown", 1), "9"))
    assert (stage.confirms, stage.strays) == ([], [])
    stage.tell(AttemptFound(Component(suspect, 1), "8"))
    assert stage.state(suspect) is S.SCHEDULED
    assert [one.component for one in stage.confirms] == [Component(suspect, 1)]


def test_deaths_of_the_broker_after_the_answer_of_the_site_are_not_held_against_a_job() -> None:
    stage = sites(A)
    (job,) = stage.submit()
    stage.restart(died=True)
    stage.accepted(job)
    for _ in range(4):
        stage.restart(died=True)
    assert stage.types(job).count("broker_died") == 1
    stage.started(job)
    assert stage.state(job) is S.RUNNING


def test_row_4_that_a_running_job_is_watched_over_by_another_broker_is_in_its_story() -> None:
    stage = sites(A)
    running, canceling = stage.submit(number=2)
    for job in (running, canceling):
        stage.accepted(job)
        stage.started(job)
    stage.tell(CancelAsked(canceling))
    stage.restart()
    assert "launcher_replaced" not in stage.types(running)
    stage.restart(died=True)
    assert [stage.types(job)[-1] for job in (running, canceling)] == ["launcher_replaced", "cancel_requested"]
    event = stage.stories[running][-1]
    assert (event.source, event.old, event.new) == (EventSource.AL, S.RUNNING, S.RUNNING)
    stage.ended(running)
    assert stage.state(running) is S.DONE


def test_what_selection_did_is_told_as_the_resource_searcher_s() -> None:
    stage = sites(A)
    (job,) = stage.submit()
    (other,) = stage.submit(f"{PLAIN} Requirements = false;")
    sources = {one.type.value: one.source for name in (job, other) for one in stage.stories[name]}
    assert (sources["job.matched"], sources["job.postponed"]) == (EventSource.RS, EventSource.RS)
    assert sources["job.accepted"] is EventSource.SCHEDULER


def test_a_broker_that_stops_by_itself_is_no_death() -> None:
    stage = sites(A)
    (job,) = stage.submit()
    for _ in range(5):
        stage.restart()
    assert "broker_died" not in stage.types(job)
    assert stage.submits[-1].record.id == job


@pytest.mark.parametrize("failure", ["starter", "agent", "lost"])
def test_a_job_whose_starters_die_at_three_sites_is_held_with_their_names(failure: str) -> None:
    stage = sites(A, B, C)
    (job,) = stage.submit()
    while stage.state(job) is S.READY:
        stage.ended(job, None, failure=failure, reason="it was killed")
        stage.run()
    assert stage.state(job) is S.WAITING
    assert "(a, b, c)" in stage.records[job].held
    stage.tell(ReleaseAsked(job))
    stage.run()
    assert stage.state(job) in (S.READY, S.ABORTED)


def test_a_job_that_is_lost_with_its_starter_three_times_is_held_and_its_only_site_is_not_blamed() -> None:
    stage = sites(A)
    (job,) = stage.submit()
    for _ in range(3):
        stage.started(job)
        stage.ended(job, None, failure="lost", reason="The Job Starter was killed.")
        stage.run()
    assert (stage.state(job), stage.types(job)[-2:]) == (S.WAITING, ["rematched", "held"])
    assert "(a, a, a)" in stage.records[job].held
    assert stage.stories[job][-1].details == {"suspected": True}
    (innocent,) = stage.submit('Executable = "/bin/date";')
    assert stage.state(innocent) is S.READY
    stage.restart()
    stage.tell(ReleaseAsked(job))
    stage.run()
    stage.started(job)
    stage.ended(job)
    assert stage.state(job) is S.DONE


def test_a_site_that_loses_jobs_of_a_kind_that_ended_well_before_is_throttled() -> None:
    stage = Stage([resource(A, cpus=8)])
    (good,) = stage.submit()
    stage.through(good)
    for job in stage.submit(number=4):
        stage.started(job)
        stage.ended(job, None, failure="lost", reason="The node died.")
    assert stage.scheduler.cache.reputation.throttled == {A}
