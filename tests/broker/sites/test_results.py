"""What a job makes at a real site comes home, or stays there and is told; nothing is lost unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.fetch import fetch_output
from broker_core.errors import NotFound
from broker_core.wire.views import EventView, RetentionChange
from tests.broker.jobs import reach, script, submit, upload
from tests.broker.sites.conftest import NAME
from tests.running import RunningBroker
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

MADE = b"#!/bin/sh\necho 1 >named; echo 22 >other; echo 333 >third\n"
THERE = f'Requirements = other.GlueSiteName == "{NAME}";'


async def test_results_that_nobody_declared_come_home_before_the_site_forgets_them(
    site: BrokerClient, cluster: Cluster, tmp_path: Path
) -> None:
    made = "mkdir 'my results'; echo 1,2 >'my results/a b.csv'; echo png >plot.png; ln -s plot.png link"
    job = await script(site, made, name="my script.sh", description=THERE)
    await reach(site, job, "Done")
    await eventually(lambda: not list((tmp_path / "there").glob("*/attempts/*")), what="the site has nothing")
    fetched = await fetch_output(site, job, tmp_path / "home")
    found = {str(path.relative_to(fetched.directory)): path.read_text() for path in fetched.files}
    assert found.pop("std.out") == ""
    assert found.pop("std.err") == ""
    assert found == {"my results/a b.csv": "1,2\n", "plot.png": "png\n"}
    assert (await site.job(job)).row["state"] == "Cleared"


async def test_a_list_that_is_empty_brings_nothing_but_what_the_job_wrote_to_its_streams(
    site: BrokerClient, cluster: Cluster
) -> None:
    file = await upload(site, b"#!/bin/sh\necho said; echo 1 >result\n", "run.sh", executable=True)
    text = f'Executable = "run.sh"; InputSandbox = {{"run.sh"}}; OutputSandbox = {{}}; {THERE}'
    job = (await submit(site, text, files=[file])).ids[0]
    await reach(site, job, "Done")
    assert {one.path for one in await site.files(job)} == {"std.out", "std.err"}


async def test_what_was_not_named_stays_and_the_job_is_cleared_by_what_was(
    site: BrokerClient, cluster: Cluster, tmp_path: Path
) -> None:
    file = await upload(
        site, b"#!/bin/sh\necho 1 >named; echo 22 >other; echo 333 >third\n", "run.sh", executable=True
    )
    text = f'Executable = "run.sh"; InputSandbox = {{"run.sh"}}; OutputSandbox = {{"named"}}; {THERE}'
    job = (await submit(site, text, files=[file])).ids[0]
    assert not (await site.stayed(job)).files
    await reach(site, job, "Done")
    stayed = await site.stayed(job)
    assert (stayed.site, stayed.more) == (NAME, 0)
    assert {one.path: one.size for one in stayed.files} == {"other": 3, "third": 4}
    assert stayed.goes is not None
    fetched = await fetch_output(site, job, tmp_path / "home")
    assert {path.name for path in fetched.files} == {"named"}
    assert (await site.job(job)).row["state"] == "Cleared"
    with pytest.raises(NotFound):
        await site.fetch_stayed(job, ["../order"])
    assert {one.path for one in (await site.fetch_stayed(job, ["other"])).files} == {"third"}
    assert {one.path: one.role for one in await site.files(job)} == {
        "named": "output", "other": "output", "std.err": "stderr", "std.out": "stdout",
    }  # fmt: skip
    assert len(list((tmp_path / "there").glob("*/attempts/*"))) == 1
    assert not (await site.forget_stayed(job)).files
    await eventually(lambda: not list((tmp_path / "there").glob("*/attempts/*")), what="the site has nothing")


async def test_removing_a_job_removes_what_stayed_of_it(
    site: BrokerClient, cluster: Cluster, tmp_path: Path
) -> None:
    job = await script(site, "echo 1 >other", name="s.sh", description=f"OutputSandbox = {{}}; {THERE}")
    await reach(site, job, "Done")
    assert list((tmp_path / "there").glob("*/attempts/*"))
    await site.purge([job])
    await eventually(lambda: not list((tmp_path / "there").glob("*/attempts/*")), what="the site has nothing")


async def test_at_this_machine_the_same_is_told(site: BrokerClient) -> None:
    text = """Executable = "/bin/sh"; Arguments = "-c 'echo 1 >named; echo 22 >other; echo 3 >third'";
              InputSandbox = {"sent"}; OutputSandbox = {"named"};
              Requirements = other.GlueCEUniqueID == "localhost:2119/jobmanager-fork-local";"""
    file = await upload(site, b"sent", "sent")
    job = (await submit(site, text, files=[file])).ids[0]
    await reach(site, job, "Done")
    assert {one.path: one.size for one in (await site.stayed(job)).files} == {"other": 3, "third": 2}
    assert (await site.stayed(job)).goes is None
    await site.fetch_stayed(job, ["other"])
    await site.forget_stayed(job)
    roles = {one.path: one.role for one in await site.files(job)}
    assert roles == {
        "named": "output",
        "other": "output",
        "sent": "input",
        "std.err": "stderr",
        "std.out": "stdout",
    }


async def test_a_job_is_not_removed_by_its_age_while_something_of_it_is_at_its_site(
    site: BrokerClient, cluster: Cluster, tmp_path: Path
) -> None:
    nothing = f"OutputSandbox = {{}}; {THERE}"
    left = await script(site, "echo 1 >other", name="s.sh", description=nothing)
    plain = await script(site, "true", name="s.sh", description=nothing)
    for job in (left, plain):
        await reach(site, job, "Done")
        await site.fetched(job)

    async def known_jobs() -> set[str]:
        return set((await site.jobs_page()).columns["id"])

    async def only_left() -> bool:
        return await known_jobs() == {left}

    async def none() -> bool:
        return not await known_jobs()

    await site.choose_retention(RetentionChange(jobs_age=1.0))
    await eventually(only_left, what="the other is removed")
    assert {one.path for one in (await site.stayed(left)).files} == {"other"}
    await site.forget_stayed(left)
    await eventually(none, what="it goes too")


async def test_the_size_that_comes_home_is_changed_while_the_broker_runs(
    site: BrokerClient, cluster: Cluster
) -> None:
    async def made() -> set[str]:
        job = await script(site, "head -c 2000 /dev/zero >large", description=THERE)
        await reach(site, job, "Done")
        return {one.path for one in (await site.stayed(job)).files}

    assert await made() == set()
    await site.choose_retention(RetentionChange(results_max=1000, left_age=86_400.0))
    assert await made() == {"large"}


async def test_stories_say_once_that_what_stayed_goes_within_a_day(
    site: BrokerClient, cluster: Cluster, running_broker: RunningBroker
) -> None:
    async def left_something() -> str:
        job = await script(site, "echo 1 >other", name="s.sh", description=f"OutputSandbox = {{}}; {THERE}")
        await reach(site, job, "Done")
        await site.choose_retention(RetentionChange())  # a round begins
        return job

    async def told(job: str) -> list[EventView]:
        return [event for event in await site.events_of(job) if event.type == "job.left_expires"]

    await site.choose_retention(RetentionChange(left_age=3600.0))
    first = await left_something()
    (event,) = await eventually(lambda: told(first), what="its story says so")
    assert event.details == {"goes": (await site.stayed(first)).goes}
    assert (await site.job(first)).row["reason"] != event.reason
    running_broker.kill()
    running_broker.start()
    second = await left_something()
    await eventually(lambda: told(second), what="the next one is told too")
    assert len(await told(first)) == 1
    assert [one.job for one in await site.expiring()] == [first, second]
    assert {one.size for one in await site.expiring()} == {2}
