"""kill -9 at random instants while jobs run; counted are the traces that the jobs left themselves."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.crash.survivor import Survivor


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_random_kills_lose_and_double_nothing(survivor: Survivor, soak: bool, seed: int) -> None:
    """The long form is 500 jobs and 50 kills for three seeds; the short one 80 jobs and 8 kills for one."""
    if not soak and seed > 1:
        seed_jobs, kills = 20, 2
    else:
        seed_jobs, kills = (500, 50) if soak else (80, 8)
    dice = random.Random(seed)
    async with survivor.client() as client:
        survivor.start()
        await client.info()
        work = asyncio.create_task(_submit_all(survivor, dice.randrange(1 << 30), seed_jobs))
        for _ in range(kills):
            await client.info()
            await asyncio.sleep(dice.uniform(0.0, 0.6))
            survivor.kill()
            survivor.wait_for_death()
        await work
        await survivor.all_ended(client, 300)
    verdict = await survivor.verdict()
    assert verdict.faults == []
    assert verdict.states == {"Done": seed_jobs}
    assert survivor.deaths >= kills - 1


async def _submit_all(survivor: Survivor, seed: int, jobs: int) -> None:
    """Submissions of 1 to 10 jobs each, all the while; every one is repeated with its key until answered."""
    dice = random.Random(seed)
    async with survivor.client() as client:
        done = 0
        while done < jobs:
            size = min(dice.randint(1, 10), jobs - done)
            values = [str(number) for number in range(done, done + size)]
            await survivor.submit(client, values, dice.choice((0.0, 0.02, 0.2)), f"key-{seed}-{done}")
            done += size
            await asyncio.sleep(dice.uniform(0, 0.1))
