"""The same way over other batch systems: what they lack (arrays, a word at a cancel) is made up for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.sites.contract import LaunchOrder
from broker_core.wire.sites import SiteSpec
from tests.leaks import lasting
from tests.running import end_all
from tests.sites.remote.far_site import MARK, QUICK, Far, script
from tests.testbed import grid_engine
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cell() -> Iterator[grid_engine.GridEngine]:
    """A real cell."""
    made = grid_engine.GridEngine()
    try:
        with lasting():
            made.start()
        yield made
    finally:
        made.close()


@pytest.fixture(params=["sge", "shell"])
async def other(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Far]:
    """A site of another kind."""
    environment = {"CROSSDESK_SLOTS": "4", "HOME": str(tmp_path)}
    if request.param == "sge":
        environment = request.getfixturevalue("cell").environment
    spec = SiteSpec(
        name="far",
        kind=request.param,
        environment=environment,
        directory=str(tmp_path / "site"),
        poll_interval=0.1,
        list_interval=0.1,
    )
    far = await Far(spec, tmp_path / "here").start()
    yield far
    await far.site.close()
    end_all(tmp_path)


async def queue_of(far: Far) -> str:
    """The first queue that the site has."""
    return (await far.site.look())[0].ce


async def test_jobs_run_and_come_home(other: Far) -> None:
    ce = await queue_of(other)
    orders: list[LaunchOrder] = [
        script(f"echo {code} >out; exit {code}", ce=ce, outputs=("out",)) for code in range(5)
    ]
    await asyncio.gather(*(other.site.submit(one) for one in orders))
    assert other.site.queued == 5
    assert not other.notices
    for one in orders:
        await other.site.confirm(one.attempt)
    for code, one in enumerate(orders):
        ended = await other.ended(one.attempt)
        assert (ended.exit_code, ended.failure) == (code, ""), ended
        assert await other.text(one.attempt, "out") == f"{code}\n"


async def test_what_runs_is_canceled_or_found_again(other: Far) -> None:
    ce = await queue_of(other)
    first, second = script("sleep 600", ce=ce), script("sleep 600", ce=ce, wall_limit=900.0)
    for one in (first, second):
        await other.site.submit(one)
        await other.site.confirm(one.attempt)
        await other.started(one.attempt)
    await other.site.cancel(first.attempt)
    assert (await other.ended(first.attempt)).failure == "killed"
    again = await other.again([(second.attempt, None)])
    await again.started(second.attempt)
    await again.site.cancel(second.attempt)
    assert (await again.ended(second.attempt)).failure == "killed"
    await again.site.close()


async def test_what_was_not_named_stays_there_until_it_is_fetched(other: Far) -> None:
    ce = await queue_of(other)
    one = script("echo 1 >named; echo 22 >other", ce=ce, outputs=("named",))
    assert (await other.run(one)).failure == ""
    there = Path(other.spec.directory) / MARK / "attempts" / one.attempt.tag
    assert [(file.path, file.size) for file in (await other.site.left(one.attempt)).files] == [("other", 3)]
    assert there.is_dir()
    assert (await other.site.fetch_left(one.attempt, [])).is_empty
    assert await other.text(one.attempt, "other") == "22\n"
    await eventually(lambda: not there.exists(), what="nothing is there that is not here")


async def test_grid_engine_s_own_word_for_an_end_at_its_limit_is_told(
    cell: grid_engine.GridEngine, tmp_path: Path
) -> None:
    spec = SiteSpec(
        name="far",
        kind="sge",
        environment=cell.environment,
        directory=str(tmp_path / "site"),
        options=["-l", "h_rt=2"],
        poll_interval=0.1,
        list_interval=0.1,
    )
    settings = replace(QUICK, record_pauses=(0.0, *(1.0,) * 30))
    far = await Far(spec, tmp_path / "here", settings).start()
    one = script("sleep 600", ce=await queue_of(far))
    ended = await far.run(one)
    assert (ended.failure, ended.exit_code) == ("wall-limit", None), ended
    assert ended.reason.startswith("The site's batch system says: its time was over (failed ")
    await far.site.close()
