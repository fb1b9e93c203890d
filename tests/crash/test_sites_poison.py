"""Jobs that kill what starts them, or each broker that hands them over, at a real cluster (case 24)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.client import BrokerClient
from broker_core.scheduling.config import SchedulerConfig
from broker_core.wire.submission import Submission, SubmissionItem
from tests.crash.site_checker import Bed, faults_at
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.testbed.guardian import Guardian
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
_KILLS_ITS_STARTER = "echo start >> {trace}; kill -9 $PPID; sleep 600"


@pytest.fixture
def one(clusters: Slurm, isolated: Path, state_dir: Path) -> Iterator[SitesSurvivor]:
    """One cluster on this machine."""
    guardian, cluster = Guardian(isolated), clusters.clusters["a"]
    bed = Bed(spec("alpha", "slurm", isolated / "there", cluster.environment), cluster)
    made = SitesSurvivor(state_dir, isolated / "effects", [bed])
    yield made
    made.close()
    cluster.end_jobs()
    guardian.close()


async def held(client: BrokerClient, job: str) -> str:
    """Why a job is held, once it is, by the broker itself."""

    async def there() -> Any:
        return (await client.job(job)).row["held"]

    reason = await eventually(there, 120, "the job is held")
    assert "the job may be the cause" in reason
    return str(reason)


async def test_a_job_that_kills_its_starter_each_time_is_held_and_its_site_is_not_blamed(
    one: SitesSurvivor,
) -> None:
    trace = one.effects / "poison"
    text = f'Executable = "/bin/sh"; Arguments = "-c \'{_KILLS_ITS_STARTER.format(trace=trace)}\'";'
    async with one.client() as client:
        await one.begin(client)
        item = SubmissionItem(description=text)
        poison = (await client.submit(Submission(key="key-of-poison", items=[item], site="alpha"))).ids[0]
        beside = await one.wave(client, count=3, seconds=2.0)
        assert "(alpha, alpha, alpha)" in await held(client, poison)
        story = [event for event in await client.events_of(poison) if event.type == "job.rematched"]
        assert len(story) == SchedulerConfig().poison_starters
        assert all("Job Starter was killed on its node" in event.reason for event in story)
        assert trace.read_text() == "start\n" * SchedulerConfig().poison_starters
        assert (await one.view(client, "alpha")).throttled == ""
        beside += await one.wave(client, count=3)

        async def done() -> bool:
            return {(await client.job(job)).row["state"] for job in beside} == {"Done"}

        await eventually(done, what="the other jobs are done")
        await client.cancel([poison])
        one.accepted[poison], one.canceled = "poison", {poison}
        await one.all_ended(client)
        await client.purge([poison, *beside])
        bed = one.beds["alpha"]
        await eventually(lambda: not faults_at(bed, one.mark("alpha"), 0))


async def test_a_job_that_kills_every_broker_on_its_way_is_held_and_runs_once_after_its_release(
    one: SitesSurvivor,
) -> None:
    deaths = SchedulerConfig().poison_deaths + 1
    async with one.client() as client:
        await one.begin(client)
        one.kill()
        one.wait_for_death()
        one.start("before:site.submit:1")
        await client.info()
        (poison,) = await one.wave(client, count=1)
        one.wait_for_death()
        for _ in range(deaths - 1):
            one.start("before:alpha.submit:1")
            one.wait_for_death()
        one.start()
        assert f"{deaths} times in a row" in " ".join(
            [event.reason for event in await client.events_of(poison)]
        )
        await held(client, poison)
        assert not (one.effects / one.accepted[poison]).exists()
        innocent = await one.wave(client, count=2)

        async def done() -> bool:
            return {(await client.job(job)).row["state"] for job in innocent} == {"Done"}

        await eventually(done, what="the other jobs are done")
        await client.release([poison])
        faults = await one.faults(client)
    assert not faults, "\n".join(faults)
