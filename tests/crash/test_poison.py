"""Killed while a job is on its way to its site, again and again (reliability case 24)."""

from __future__ import annotations

import pytest

from broker_core.scheduling.config import SchedulerConfig
from tests.crash.survivor import Survivor
from tests.waiting import eventually

ON_ITS_WAY = "before:site.submit:1"


async def dies_handing_over(survivor: Survivor, values: list[str]) -> list[str]:
    """A broker that dies with the first job that it hands over; jobs are submitted before."""
    survivor.start(ON_ITS_WAY)
    async with survivor.client() as client:
        jobs = await survivor.submit(client, values, 0.05, f"key-of-{values[0]}")
    survivor.wait_for_death()
    return jobs


@pytest.mark.parametrize("point", ["before:job.broker_died", "after:job.broker_died"])
async def test_killed_again_when_the_death_is_recorded_nothing_is_lost_or_doubled(
    survivor: Survivor, point: str
) -> None:
    await dies_handing_over(survivor, ["a", "b"])
    for _ in range(2):
        survivor.start(f"{point}:1")
        survivor.wait_for_death()
    async with survivor.client() as client:
        survivor.start()
        await survivor.all_ended(client)
    verdict = await survivor.verdict()
    assert (verdict.faults, verdict.states) == ([], {"Done": 2})


async def test_a_job_that_kills_every_broker_is_held_and_harms_nobody_any_more(survivor: Survivor) -> None:
    (poison,) = await dies_handing_over(survivor, ["poison"])
    for _ in range(SchedulerConfig().poison_deaths):
        survivor.start("before:sites.start:1")
        survivor.wait_for_death()
    async with survivor.client() as client:
        survivor.start()

        async def held() -> bool:
            return "may be the cause" in str((await client.job(poison)).row["held"])

        await eventually(held, what="the job is held")
        await survivor.submit(client, ["innocent"], 0.05, "key-of-the-innocent")
        await client.release([poison])
        await survivor.all_ended(client)
    verdict = await survivor.verdict()
    assert (verdict.faults, verdict.states) == ([], {"Done": 2})
