"""Of a sweep with `MaxRunningJobs` only so many jobs are at work at the same time."""

from __future__ import annotations

from broker_core.jobs.states import JobState
from broker_core.scheduling.messages import CancelAsked, HoldAsked, ReleaseAsked
from tests.scheduling.stage import PLAIN, Stage, resource

TWO = f"{PLAIN} Parameters = 9; MaxRunningJobs = 2;"
S = JobState


def _at_work(stage: Stage) -> list[str]:
    return [id for id, one in stage.records.items() if one.state in (S.READY, S.SCHEDULED, S.RUNNING)]


def _stage() -> Stage:
    return Stage([resource(cpus=8)])


def test_the_next_one_starts_when_one_has_ended_and_others_are_not_held_back() -> None:
    stage = _stage()
    jobs = stage.submit(TWO, 5, batch="b")
    other = stage.submit(PLAIN, 3, batch="c")
    assert _at_work(stage) == [*jobs[:2], *other]
    for done, now in ((0, jobs[1:3]), (1, jobs[2:4]), (2, jobs[3:5]), (3, jobs[4:5]), (4, [])):
        stage.through(jobs[done])
        stage.run()
        assert set(_at_work(stage)) == {*now, *other}


def test_a_job_that_fails_at_its_site_keeps_its_place_until_it_has_ended() -> None:
    stage = _stage()
    jobs = stage.submit(TWO, 4, batch="b")
    stage.ended(jobs[0], None, failure="lost", reason="the node died")
    stage.run()
    assert _at_work(stage) == jobs[:2]
    assert stage.records[jobs[0]].attempt == 2


def test_who_is_canceled_or_put_on_hold_makes_room_and_comes_back_in_its_turn() -> None:
    stage = _stage()
    jobs = stage.submit(TWO, 4, batch="b", hold="wait")
    for job in jobs:
        stage.tell(ReleaseAsked(job))
        stage.run()
    assert _at_work(stage) == jobs[:2]
    stage.tell(HoldAsked(jobs[2], "not yet"))
    stage.tell(CancelAsked(jobs[0]))
    stage.ended(jobs[0], None, failure="canceled")
    stage.run()
    assert _at_work(stage) == [jobs[1], jobs[3]]
    stage.tell(ReleaseAsked(jobs[2]))
    stage.run()
    assert _at_work(stage) == [jobs[1], jobs[3]]
    stage.through(jobs[1])
    stage.run()
    assert _at_work(stage) == [jobs[2], jobs[3]]


def test_it_holds_over_a_killed_broker() -> None:
    stage = _stage()
    jobs = stage.submit(TWO, 4, batch="b")
    stage.accepted(jobs[0])
    stage.accepted(jobs[1])
    stage.restart(died=True)
    stage.run()
    assert _at_work(stage) == jobs[:2]
    stage.started(jobs[0])
    stage.ended(jobs[0])
    stage.run()
    assert _at_work(stage) == jobs[1:3]


def test_the_queue_and_the_question_why_tell_of_the_limit() -> None:
    stage = _stage()
    jobs = stage.submit(TWO, 3, batch="b")
    job = stage.scheduler.job(jobs[2])
    assert job is not None
    (row,) = [one for one in stage.scheduler.queue(stage.monotonic) if one.job is job]
    assert (row.state, row.position) == ("limited", 0)
    why = stage.scheduler.why(jobs[2], stage.monotonic)
    assert why is not None
    expected = "Waits for its turn: of its batch 2 may be at work at the same time (MaxRunningJobs)"
    assert why.headline == row.reason == expected
    assert why.remedy == "Wait, or submit it with a larger MaxRunningJobs"


def test_many_jobs_go_through_two_at_a_time() -> None:
    stage = _stage()
    jobs = stage.submit(TWO, 50, batch="b")
    most = 0
    while left := _at_work(stage):
        most = max(most, len(left))
        stage.through(left[0])
        stage.run()
    assert most == 2
    assert all(stage.records[job].state is S.DONE for job in jobs)
