"""What each component of a job over several sites did, by the events that the scheduler records."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused, AttemptStarted
from broker_core.jobs.components import CoallocationStory, coallocation_of
from broker_core.jobs.states import JobState as S
from broker_core.scheduling.coallocation.messages import ComponentGathered, LauncherLost
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.messages import CancelAsked
from tests.scheduling.components import components, gathered, gone, held, together
from tests.scheduling.over_several import A, B, C, begun
from tests.scheduling.stage import Stage


def told(stage: Stage, job: str) -> CoallocationStory:
    found = coallocation_of(stage.stories[job])
    assert found is not None
    return found


def standings(stage: Stage, job: str) -> list[str]:
    return [one.words for one in told(stage, job).components]


def test_each_step_of_a_component_is_told_with_its_time_and_the_barrier_counts() -> None:
    stage, job = begun(A, B)
    one, two = components(stage, job)
    assert standings(stage, job) == ["On its way"] * 2
    stage.wait(10)
    stage.tell(AttemptAccepted(one, held=True))
    assert standings(stage, job) == ["In the queue", "On its way"]
    assert stage.records[job].reason == "1 of 2 components are at their sites"
    stage.tell(AttemptAccepted(two, held=True))
    stage.wait(10)
    stage.tell(AttemptStarted(two, stage.wall))
    assert stage.records[job].reason == "1 of 2 components started"
    stage.wait(10)
    stage.tell(ComponentGathered(two))
    assert standings(stage, job) == ["In the queue", "In MPI_Init"]
    assert told(stage, job).barrier == "1 of 2 components reached MPI_Init; those there wait for a."
    stage.tell(ComponentGathered(one))
    story = told(stage, job)
    assert (story.gathered, story.released) == (2, stage.wall)
    assert story.barrier == "All 2 components reached MPI_Init, and the barrier was released."
    late = story.components[0]
    assert (late.site, late.cpus, late.ranks, late.started) == ("a", 4, "0-3", None)
    stage.tell(AttemptStarted(one, stage.wall))  # its site says it after its processes do
    first, second = told(stage, job).components
    begin = stage.wall - 30
    assert (first.submitted, first.started, first.gathered) == (begin + 10, begin + 30, begin + 30)
    assert (second.submitted, second.started, second.gathered) == (begin + 10, begin + 20, begin + 30)
    assert (second.cpus, second.ranks, second.words) == (2, "4-5", "Running")
    stage.tell(AttemptEnded(one, stage.wall, 0))
    assert standings(stage, job) == ["Exit code 0", "Running"]
    assert stage.records[job].exit_code is None
    stage.tell(AttemptEnded(two, stage.wall, 0))
    assert (stage.state(job), told(stage, job).reactions) == (S.DONE, ())


def test_placements_stay_those_of_all_when_one_component_is_spoken_of() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    assert [one.ce.id for one in stage.records[job].placements] == [A, B]


def test_what_failed_and_what_followed_are_kept_with_the_attempt() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    stage.tell(AttemptEnded(components(stage, job)[1], stage.wall, 3))
    story = told(stage, job)
    (taken,) = story.reactions
    assert (taken.attempt, taken.plan, taken.done) == (1, "Once more at the same sites", None)
    why = "it ended with exit code 3 before the application started"
    assert taken.reason == f"b: {why}; all components are ended"
    assert story.barrier == "0 of 2 components reached MPI_Init when the attempt was given up."
    assert (story.components[1].words, story.components[1].standing) == ("Exit code 3", "Failed")
    stage.wait(5)
    stage.tell(AttemptEnded(components(stage, job)[0], stage.wall, failure="killed"))
    again = told(stage, job)
    assert (again.attempt, again.reactions[0].done, again.given_up) == (2, stage.wall, False)
    assert [one.cpus for one in again.components] == [4, 2]
    together(stage, job, 2)
    assert stage.state(job) is S.DONE
    assert len(told(stage, job).reactions) == 1


@pytest.mark.parametrize(
    ("event", "plan"),
    [("refused", "the next choice is tried"), ("launcher", "Matched again"), ("time", "Matched again")],
)
def test_each_reaction_says_what_follows(event: str, plan: str) -> None:
    stage, job = begun(A, B, C, rules=SchedulerConfig(gather_timeout=50))
    if event == "refused":
        stage.tell(AttemptRefused(components(stage, job)[0], "queue is closed"))
    else:
        held(stage, job)
    if event == "launcher":
        stage.tell(LauncherLost(job, 1))
    elif event == "time":
        stage.wait(51)
    gone(stage, job)
    taken = told(stage, job).reactions[0]
    assert plan in taken.plan
    assert taken.done == stage.wall


def test_a_failure_while_all_compute_aborts_the_job_and_a_cancel_is_no_failure() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    gathered(stage, job)
    stage.tell(AttemptEnded(components(stage, job)[1], stage.wall, signal=9))
    assert told(stage, job).reactions[0].plan == "The job is aborted"
    assert standings(stage, job) == ["Being ended", "Ended by signal 9"]
    assert told(stage, job).barrier.endswith("and the barrier was released; then the attempt was given up.")
    gone(stage, job)
    assert stage.state(job) is S.ABORTED
    stage, job = begun(A, B)
    held(stage, job)
    stage.tell(CancelAsked(job))
    gone(stage, job)
    assert (stage.state(job), told(stage, job).reactions) == (S.CANCELED, ())


def test_a_step_that_is_recorded_is_not_recorded_again_by_the_next_broker() -> None:
    stage, job = begun(A, B)
    held(stage, job)
    one, two = components(stage, job)
    for message in (AttemptStarted(one, stage.wall), ComponentGathered(one)):
        stage.tell(message)
    before = len(stage.stories[job])
    stage.restart(died=True)
    stage.wait(30)
    for message in (AttemptAccepted(one, held=True), AttemptStarted(one, stage.wall), ComponentGathered(one)):
        stage.tell(message)
    assert len(stage.stories[job]) == before
    first = told(stage, job).components[0]
    assert (first.started, first.gathered) == (stage.wall - 30, stage.wall - 30)
    stage.tell(ComponentGathered(two))
    assert (stage.state(job), told(stage, job).gathered) == (S.RUNNING, 2)


def test_a_job_at_one_site_has_no_story_of_components() -> None:
    stage = Stage()
    (job,) = stage.submit()
    stage.through(job)
    assert coallocation_of(stage.stories[job]) is None
