"""A dead site costs the others nothing: counted, not timed (reliability case 9)."""

from __future__ import annotations

from broker_core.jobs.states import JobState
from broker_core.scheduling.effects import Effect
from tests.scheduling.stage import PLAIN, Stage, resource, stage_matches

S = JobState
DEAD, LIVE = "dead:22/jobmanager-slurm-x", "live:22/jobmanager-slurm-x"


def played(stage: Stage, jobs: int = 40) -> tuple[int, list[str]]:
    """Matches made while jobs go through the site that works, and what happened to them."""
    before = stage_matches[0]
    told: list[str] = []
    for job in stage.submit(PLAIN, jobs):
        stage.run()
        stage.through(job)
        told += stage.types(job)
    return stage_matches[0] - before, told


def dead() -> Stage:
    """Jobs are on their way to a site that never answers; its connection is given up after a while."""
    stage = Stage([resource(DEAD, cpus=30), resource(LIVE, cpus=50)])
    stuck = stage.submit(PLAIN, 30, site="dead")
    assert {stage.state(job) for job in stuck} == {S.READY}
    return stage


def test_decisions_elsewhere_need_no_more_matches_and_no_other_steps() -> None:
    alone, told = played(Stage([resource(LIVE, cpus=50)]))
    beside, same = played(dead())
    assert (beside, same) == (alone, told)


def test_no_more_so_after_the_site_is_known_to_be_dead() -> None:
    stage = dead()
    stage.link("dead", "down", "no answer within 60 s")
    alone, told = played(Stage([resource(LIVE, cpus=50)]))
    assert played(stage) == (alone, told)


def test_nothing_is_done_for_a_dead_site_as_time_goes_by() -> None:
    stage = dead()
    stage.link("dead", "down", "no answer within 60 s")
    effects: list[Effect] = []
    tell = stage.tell
    stage.tell = lambda message: effects.extend(made := tell(message)) or made  # type: ignore[method-assign, func-returns-value]
    stage.wait(3600)
    assert len(effects) <= 3600 / stage.rules.rematch_interval + 1, "a wish to be woken for each round"


def test_a_job_wanted_at_the_dead_site_holds_nobody_else_back() -> None:
    stage = dead()
    stage.link("dead", "down", "no answer")
    (waits,) = stage.submit(PLAIN, 1, site="dead")
    (goes,) = stage.submit(PLAIN, 1)
    assert (stage.state(waits), stage.state(goes)) == (S.WAITING, S.READY)
