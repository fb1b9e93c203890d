"""Exchanges that are cut off in the middle: every attempt is one batch job all the same (case 2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from broker_core.sites.transport.contract import LinkLost
from tests.sites.remote.cutting import cutting_path
from tests.sites.remote.far_site import MARK, Far, script, spec_for
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
Cutting = Callable[[str], Awaitable[Far]]


@pytest.fixture
async def cutting(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Cutting]:
    """Makes a site whose first submission is cut off."""
    made: list[Far] = []

    async def make(moment: str) -> Far:
        path = cutting_path(tmp_path / "bin", moment)
        spec = spec_for(cluster, tmp_path / "site", environment=cluster.environment | {"PATH": path})
        made.append(await Far(spec, tmp_path / "here").start())
        return made[0]

    yield make
    for far in made:
        await far.site.close()


async def submitted(far: Far, one: object) -> str:
    """As the engine does it: asked again as long as it is not known."""

    async def ask() -> str:
        try:
            return await far.site.submit(one)  # type: ignore[arg-type]
        except LinkLost:
            return ""

    return str(await eventually(ask))


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("count", [1, 3])
async def test_submitted_again_it_is_one_job(
    cutting: Cutting, cluster: Cluster, moment: str, count: int
) -> None:
    far = await cutting(moment)
    orders = [script("echo ran") for _ in range(count)]
    ids = await asyncio.gather(*(submitted(far, one) for one in orders))
    assert sorted(ids) == sorted(cluster.present())
    for one in orders:
        await far.site.confirm(one.attempt)
    for one in orders:
        assert (await far.ended(one.attempt)).exit_code == 0


async def test_what_is_still_under_way_at_the_site_is_waited_for(
    cutting: Cutting, cluster: Cluster, tmp_path: Path
) -> None:
    far = await cutting("late")
    one = script("echo ran")
    asked = asyncio.create_task(submitted(far, one))
    await eventually(lambda: (tmp_path / "bin/done").exists())
    groups = Path(far.spec.directory) / MARK / "groups"
    await eventually(lambda: (groups / one.attempt.tag / "submit").exists())
    (tmp_path / "bin/go").touch()
    id = await asked
    assert list(cluster.present()) == [id]


async def test_a_new_broker_finds_what_the_old_one_was_cut_off_from(
    cutting: Cutting, cluster: Cluster
) -> None:
    old = await cutting("after")
    one = script("echo ran")
    asked = asyncio.create_task(old.site.submit(one))
    await eventually(cluster.present)
    asked.cancel()
    far = await old.again([(one.attempt, one)])
    id = await far.site.submit(one)
    assert list(cluster.present()) == [id]
    await far.site.confirm(one.attempt)
    assert (await far.ended(one.attempt)).exit_code == 0
    await far.site.close()


async def test_what_was_an_array_and_is_submitted_one_by_one_leaves_nothing(
    cutting: Cutting, tmp_path: Path
) -> None:
    far = await cutting("late")
    orders = [script("echo ran") for _ in range(2)]
    cut = await asyncio.gather(*(far.site.submit(one) for one in orders), return_exceptions=True)
    assert [type(one) for one in cut] == [LinkLost, LinkLost]
    (tmp_path / "bin/go").touch()
    for one in orders:
        await submitted(far, one)
        await far.site.confirm(one.attempt)
    for one in orders:
        assert (await far.ended(one.attempt)).exit_code == 0
    await far.site.forget([one.attempt for one in orders])
    there = Path(far.spec.directory) / MARK
    assert not [path.name for part in ("attempts", "groups") for path in (there / part).iterdir()]
