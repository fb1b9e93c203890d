"""What a script makes at a real site comes home though its description does not say what that will be."""

from __future__ import annotations

from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.fetch import fetch_output
from tests.broker.jobs import reach, script, submit, upload
from tests.broker.sites.conftest import NAME
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

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
