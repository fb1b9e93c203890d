"""Every process of a job ends with it: children, daemons, those that ignore signals."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.jobs.placement import Component
from tests.sites.running_site import RunningSite, order, script
from tests.waiting import eventually

TREES = {
    "grandchildren": "(sleep 601 & sleep 602 & wait) & (sleep 603; true); wait",
    "sessions of their own": "setsid sleep 604 & setsid -f sleep 605; sleep 606",
    "double forks": '(setsid sh -c "sleep 607 & sleep 608" &) ; sleep 609',
    "deaf to TERM": 'trap "" TERM; (trap "" TERM; sleep 610; sleep 611) & while :; do sleep 612; done',
    "without the mark": "env -i /bin/sleep 613 & env -i /bin/sleep 614",
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES.keys())
async def test_a_cancel_ends_the_whole_tree(here: RunningSite, tree: str) -> None:
    job = script(tree)
    await here.site.submit(job)
    await here.started(job.attempt)
    await here.site.cancel(job.attempt)
    ended = await here.ended(job.attempt)
    assert (ended.failure, ended.exit_code) == ("killed", None)
    assert not here.left()
    assert here.site.describe().free_cpus == 2


async def test_processes_that_are_replaced_all_the_time_are_ended(here: RunningSite) -> None:
    job = script(
        'b() { sleep 0.02; b & }; for i in 1 2 3 4 5 6 7 8; do b & done; trap "" TERM; wait; sleep 600'
    )
    await here.site.submit(job)
    await here.started(job.attempt)
    await eventually(lambda: len(here.left()) > 2)
    await here.site.cancel(job.attempt)
    await here.ended(job.attempt)
    assert not here.left()


async def test_daemons_do_not_outlive_a_normal_end(here: RunningSite) -> None:
    job = script("setsid -f sleep 620; (sleep 621 &) ; exit 5")
    await here.site.submit(job)
    ended = await here.ended(job.attempt)
    assert (ended.exit_code, ended.failure) == (5, "")
    assert not here.left()


async def test_a_queued_job_is_canceled_without_starting(here: RunningSite, tmp_path: Path) -> None:
    long = order("sleep", "600", cpus=2)
    queued = script(f"touch {tmp_path}/ran")
    await here.site.submit(long)
    await here.site.submit(queued)
    await here.started(long.attempt)
    await here.site.cancel(queued.attempt)
    assert (await here.ended(queued.attempt)).failure == "killed"
    await here.site.cancel(long.attempt)
    await here.ended(long.attempt)
    assert not (tmp_path / "ran").exists()


async def test_a_cancel_of_an_attempt_that_is_over_tells_its_end_again(here: RunningSite) -> None:
    job = script("exit 4")
    await here.site.submit(job)
    await here.ended(job.attempt)
    await here.site.cancel(job.attempt)
    assert [ended.exit_code for ended in here.ends(job.attempt)] == [4, 4]
    stranger = Component("stranger", 1)
    await here.site.cancel(stranger)
    assert here.ends(stranger)[0].failure == "killed"


async def test_the_wall_limit_of_a_job_ends_it(here: RunningSite) -> None:
    job = order("sleep", "600", wall_limit=0.2)
    await here.site.submit(job)
    ended = await here.ended(job.attempt)
    assert ended.failure == "wall-limit"
    assert not here.left()
