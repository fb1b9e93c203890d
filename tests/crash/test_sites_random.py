"""kill -9 at random instants while jobs run at two clusters and a plain host."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.crash.sites_survivor import SitesSurvivor

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("seed", [1])
async def test_random_kills_lose_and_double_nothing_at_sites(
    survivor_with_sites: SitesSurvivor, soak: bool, seed: int
) -> None:
    """The long form is 300 jobs and 40 kills, the short one 30 jobs and 5 kills."""
    survivor, dice = survivor_with_sites, random.Random(seed)
    waves, kills = (50, 40) if soak else (5, 5)
    async with survivor.client() as client:
        await survivor.begin(client)
        work = asyncio.create_task(_work(survivor, dice.randrange(1 << 30), waves))
        for _ in range(kills):
            await client.info()
            await asyncio.sleep(dice.uniform(0.0, 3.0))
            survivor.kill()
            survivor.wait_for_death()
        await work
        faults = await survivor.faults(client, 300)
    assert not faults, "\n".join(faults)
    assert survivor.deaths >= kills


async def _work(survivor: SitesSurvivor, seed: int, waves: int) -> None:
    """Six jobs at a time, sent again with their keys until they are answered."""
    dice = random.Random(seed)
    async with survivor.client() as client:
        for _ in range(waves):
            await survivor.wave(client, seconds=dice.choice((0.0, 0.3, 1.0)))
            await asyncio.sleep(dice.uniform(0.0, 1.5))
