"""Ten thousand jobs at once for one site of four processors (reliability case 22)."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.client.client import BrokerClient
from broker_core.jobs.states import JobState
from broker_core.settings.settings import Settings
from broker_core.wire.submission import Submission, SubmissionItem
from tests.crash.sites_survivor import SitesSurvivor
from tests.crash.survivor import ACTIVE
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
JOBS = 10_000
MOST = 2 * (Settings().max_site_queue + 8)
"""Jobs at the site: for each of its two queues those that may wait, and its processors twice."""


async def test_a_burst_is_kept_here_while_the_site_gets_what_it_can_run(
    survivor_with_sites: SitesSurvivor, clusters: Slurm
) -> None:
    survivor, cluster = survivor_with_sites, clusters.clusters["a"]
    most = 0

    async def some_done(count: int) -> bool:
        nonlocal most
        most = max(most, len(await asyncio.to_thread(cluster.present)))
        return await _count(client, [JobState.DONE]) >= count

    async with survivor.client() as client:
        await survivor.begin(client)
        item = SubmissionItem(description='Executable = "/bin/true";', values=list(map(str, range(JOBS))))
        receipt = await client.submit(Submission(key="key-of-the-burst", items=[item], site="alpha"))
        assert len(receipt.ids) == JOBS
        other = await survivor.wave(client, ["beta"], count=2)
        await eventually(lambda: some_done(12), 90)
        survivor.kill()
        survivor.wait_for_death()
        await eventually(lambda: some_done(24), 90)
        assert {(await client.job(job)).row["state"] for job in other} == {"Done"}
        assert most <= MOST
        await client.cancel(receipt.ids)
        await survivor.all_ended(client, 120)
        assert await _count(client, ACTIVE) == 0
        await eventually(lambda: not cluster.present())


async def _count(client: BrokerClient, states: list[JobState]) -> int:
    return (await client.jobs_page(limit=1, states=states)).total or 0
