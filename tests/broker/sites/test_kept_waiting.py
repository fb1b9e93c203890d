"""What a batch system keeps waiting: said where it passes, matched again where it never will."""

from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.command_line.job.following import until_ended
from broker_core.errors import BadRequest
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, script
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import known
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

SHORT = 'other.GlueCEName == "short"'
AT_SHORT_FIRST = f'Requirements = other.GlueSiteName == "{NAME}"; Rank = {SHORT} ? 1 : 0;'

pytestmark = pytest.mark.usefixtures("trusting", "cluster")


async def reasons(client: BrokerClient, job: str, kind: str) -> list[str]:
    """The reasons of a job's events of one kind."""
    return [one.reason for one in await client.events_of(job) if one.type == f"job.{kind}"]


async def test_the_whole_limit_of_a_queue_can_be_asked_for_and_no_more(
    client: BrokerClient, spec: SiteSpec
) -> None:
    await client.add_site(spec)
    await known(client, NAME)
    whole = await script(client, "true", description=f"WallTime = 600; Requirements = {SHORT};")
    assert (await reach(client, whole, "Done"))["site"].endswith("slurm-short")
    report = await client.match(f'Executable = "/bin/true"; WallTime = 660; Requirements = {SHORT};')
    (told,) = [one for one in report.resources if one.ce.endswith("slurm-short")]
    assert (told.matches, told.reason) == (False, "jobs may run 10 minutes; 11 wanted")


async def test_what_would_wait_for_ever_in_a_queue_is_ended_there_and_runs_elsewhere(
    client: BrokerClient, spec: SiteSpec, cluster: Cluster
) -> None:
    await client.add_site(spec.model_copy(update={"options": ["--time=30"]}))
    await known(client, NAME)
    job = await script(client, "true", description=AT_SHORT_FIRST)
    row = await reach(client, job, "Done")
    assert row["site"].endswith("slurm-main")
    (given_up,) = await reasons(client, job, "rematched")
    assert "above the limit of the partition (PartitionTimeLimit)" in given_up
    assert not await reasons(client, job, "retried")
    await eventually(lambda: not cluster.present())


async def test_what_is_purged_leaves_nothing_at_the_sites_that_it_tried_before(
    client: BrokerClient, spec: SiteSpec, tmp_path: Path, state_dir: Path
) -> None:
    await client.add_site(spec.model_copy(update={"options": ["--time=30"], "queues": ["short"]}))
    await known(client, NAME)
    first = f'Requirements = true; Rank = other.GlueSiteName == "{NAME}" ? 1 : 0;'
    job = await script(client, "true", description=first)
    row = await reach(client, job, "Done")
    assert (row["attempt"], NAME in row["site"]) == (2, False)

    def left() -> list[str]:
        walks = itertools.chain(os.walk(tmp_path / "there"), os.walk(state_dir))
        return [name for _, folders, files in walks for name in folders + files if name.startswith(job)]

    assert left()
    await client.purge([job])
    await eventually(lambda: not left(), what="nothing is left of it")


async def test_why_a_batch_system_keeps_a_job_waiting_is_in_its_story(
    client: BrokerClient, spec: SiteSpec, cluster: Cluster
) -> None:
    await client.add_site(spec.model_copy(update={"options": ["--begin=now+1hour"]}))
    await known(client, NAME)
    job = await script(client, "true", description=AT_SHORT_FIRST)

    async def told() -> bool:
        return bool(await reasons(client, job, "kept_waiting"))

    await eventually(told, what="the site's reason is told")
    (reason,) = await reasons(client, job, "kept_waiting")
    assert reason == "The site keeps it waiting: it may not begin yet (BeginTime)"
    assert "(BeginTime)" in (await client.why(job)).headline
    assert "(BeginTime)" in (await client.job(job)).waits_for
    (there,) = cluster.present()
    cluster.run("scontrol", "update", f"JobId={there}", "StartTime=now")
    await reach(client, job, "Done")


async def test_who_waits_for_a_job_learns_why_it_waits_sooner_than_the_list_is_asked_for(
    client: BrokerClient, spec: SiteSpec
) -> None:
    rarely = {"options": ["--begin=now+1hour"], "list_interval": 3600.0}
    await client.add_site(spec.model_copy(update=rarely))
    await known(client, NAME)
    job = await script(client, "true", description=f'Requirements = other.GlueSiteName == "{NAME}";')
    await reach(client, job, "Scheduled")
    waiting = asyncio.create_task(until_ended(client, [job]))
    why = await eventually(lambda: reasons(client, job, "kept_waiting"))
    assert "BeginTime" in why[0]
    await client.cancel([job])
    (row,) = await waiting
    assert row["state"] == "Canceled"


async def test_what_is_not_there_can_be_looked_at_and_too_much_at_once_cannot(client: BrokerClient) -> None:
    await client.watch(["no-such-job"])
    answer = await client._bulk("watch", ["no-such-job"])
    assert answer.results == {"no-such-job": "There is no such job."}
    with pytest.raises(BadRequest, match="101 jobs at once are too many"):
        await client._bulk("watch", [f"job{number}" for number in range(101)])
