"""A site that fails its jobs fast gets few of them; others go on, and it comes back when it works."""

from __future__ import annotations

from broker_core.jobs.states import JobState
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
HOLE, GOOD = "hole:22/jobmanager-slurm-x", "works:22/jobmanager-slurm-x"


def at(stage: Stage, ce: str) -> list[str]:
    """Jobs with an attempt at a computing element."""
    return [job.id for job in stage.scheduler.live() if job.at_site and job.where == ce]


def play(stage: Stage, seconds: float, hole_works: bool = False) -> int:
    """Let time pass in steps of 5 s; jobs at the hole end before their start. Returns those it swallowed."""
    swallowed = 0
    for _ in range(int(seconds / 5)):
        for job in at(stage, HOLE):
            if hole_works:
                stage.through(job)
            else:
                stage.ended(job, None, failure="starter", reason="the starter was ended at once")
                swallowed += 1
        for job in at(stage, GOOD):
            stage.through(job)
        stage.run()
        stage.wait(5)
    return swallowed


def busy(jobs: int = 300, good: int = 2) -> Stage:
    stage = Stage([resource(HOLE, cpus=50), resource(GOOD, cpus=good)])
    stage.submit(PLAIN, jobs)
    return stage


def test_a_black_hole_swallows_no_more_than_its_first_handful_and_some_probes() -> None:
    stage = busy()
    assert len(at(stage, HOLE)) == 50
    first = play(stage, 5)
    later = play(stage, 595)
    assert first == 50
    assert later - 50 < 15, "after the second tries of the first jobs only probes are sent"
    done = [job for job in stage.records if stage.state(job) is S.DONE]
    assert len(done) >= 200, "the site that works went on"


def test_a_throttled_site_is_marked_with_its_reason_and_shown_to_those_who_wait() -> None:
    stage = Stage([resource(HOLE, cpus=3)])
    stage.submit(PLAIN, 6)
    play(stage, 5)
    throttle = stage.scheduler.cache.reputation.at(HOLE, stage.monotonic)
    assert throttle is not None
    assert throttle.reason == "the starter was ended at once"
    bar = stage.scheduler.pool(stage.monotonic).barred[0]
    assert bar.reason == "it fails its jobs and gets few: the starter was ended at once"
    assert bar.now_only


def test_no_more_than_one_probe_is_there_at_a_time() -> None:
    stage = busy(3000, good=20)
    play(stage, 10)
    probes = []
    for _ in range(60):
        probes.append(len(at(stage, HOLE)))
        play(stage, 5)
    assert max(probes) == 1


def test_a_site_that_works_again_gets_all_its_jobs_back() -> None:
    stage = busy(5000, good=20)
    play(stage, 60)
    before = len([job for job in stage.records if stage.state(job) is S.DONE])
    play(stage, 300, hole_works=True)
    after = len([job for job in stage.records if stage.state(job) is S.DONE])
    assert after - before > 60 * 20 + 1000, "the site that worked all the time did 20 in each step"
    assert HOLE not in stage.scheduler.cache.reputation.throttled


def test_jobs_that_fail_by_themselves_throttle_no_site() -> None:
    stage = Stage([resource(GOOD, cpus=4)])
    for job in stage.submit(PLAIN, 40):
        stage.run()
        stage.accepted(job)
        stage.started(job)
        stage.ended(job, 1)
    stage.run()
    assert not stage.scheduler.cache.reputation.throttled
    assert {stage.state(job) for job in stage.records} == {S.DONE}


def test_jobs_that_fail_within_seconds_where_their_like_end_well_elsewhere_throttle_the_site() -> None:
    stage = Stage([resource(HOLE, cpus=4), resource(GOOD, cpus=9)])
    jobs = stage.submit(PLAIN, 8)
    for job in at(stage, GOOD):
        stage.through(job)
    for job in at(stage, HOLE):
        stage.accepted(job)
        stage.started(job)
        stage.ended(job, 127)
    assert len(jobs) == 8
    throttle = stage.scheduler.cache.reputation.at(HOLE, stage.monotonic)
    assert throttle is not None
    assert "end well elsewhere" in throttle.reason
