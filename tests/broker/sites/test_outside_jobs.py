"""Jobs of the account that were submitted outside CrossDesk, at a real cluster behind SSH."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import NotFound
from broker_core.wire.outside import OutsideJob
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, script, submit
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import known
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

THERE = f'Requirements = other.GlueSiteName == "{NAME}";'


def sbatch(cluster: Cluster, folder: Path, name: str, body: str, *words: str) -> str:
    """Hand a job over as its user does; its id."""
    program = folder / f"{name}.sbatch"
    program.write_text(f"#!/bin/sh\n{body}\n")
    out = f"--output={folder}/{name}.out"
    return cluster.run("sbatch", "--parsable", f"--job-name={name}", out, *words, str(program)).strip()


async def outside(client: BrokerClient, id: str, *states: str) -> OutsideJob:
    """One of them, once it is in one of the states."""

    async def there() -> OutsideJob | None:
        found = await client.outside_jobs(wait=True)
        assert not found.silent
        return next((job for job in found.jobs if job.id == id and job.state in states), None)

    job = await eventually(there, what=f"{id} is {' or '.join(states)}")
    assert isinstance(job, OutsideJob)
    return job


async def test_they_are_seen_with_state_reason_output_and_end(
    site: BrokerClient, cluster: Cluster, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    body = f"echo 'red \033[31m'; while [ ! -e {gate} ]; do sleep 0.1; done; exit 3"
    runs = sbatch(cluster, tmp_path, "runs", body, "--ntasks=2")
    waits = sbatch(cluster, tmp_path, "waits", "true", "--begin=now+1day")
    job = await outside(site, runs, "Running")
    assert (job.site, job.name, job.word, job.cpus, job.queue) == (NAME, "runs", "RUNNING", 2, "main")
    assert (job.submitted or 0.0) <= (job.started or 0.0)
    assert job.submitted
    later = await outside(site, waits, "Waiting")
    assert (later.word, "BeginTime" in later.reason) == ("PENDING", True)
    detail = await site.outside_job(NAME, runs)
    facts = dict(detail.facts)
    assert facts["StdOut"] == str(tmp_path / "runs.out")
    assert facts["JobState"] == "RUNNING"

    async def said() -> str:
        return (await site.outside_output(NAME, runs)).text

    assert await eventually(said) == "red \x1b[31m\n"  # shown by the viewers as all output is
    listed = await asyncio.to_thread(crossdesk, "job", "list", "outside:", "name:runs")
    assert (listed.code, f"{NAME}/{runs}" in listed.out, "Running (RUNNING)" in listed.out) == (0, True, True)
    gate.touch()
    over = await outside(site, runs, "Done")
    assert (over.exit_code, over.word) == (3, "FAILED")
    assert "Ended: Done (FAILED, exit code 3)" in [line.words for line in over.story]
    told = await asyncio.to_thread(crossdesk, "job", "list", "--outside", "--json")
    assert [job["id"] for job in told.json["jobs"]] == [waits]
    asked = await asyncio.to_thread(crossdesk, "job", "cancel", f"{NAME}/{waits}")
    assert asked.code == 1
    assert "Add --yes to end them." in asked.err
    assert (await outside(site, waits, "Waiting")).ended is None
    done = await asyncio.to_thread(crossdesk, "job", "cancel", "--yes", f"{NAME}/{waits}", f"{NAME}/99999")
    assert (done.code, done.out) == (1, f"{NAME}/{waits}\n")
    assert f"{NAME}/99999: " in done.err
    assert "Told to end: 1 job." in done.err
    canceled = await outside(site, waits, "Canceled")
    assert "The batch system was told to cancel it." in [line.words for line in canceled.story]
    with pytest.raises(NotFound):
        await site.cancel_outside(NAME, "99999")


async def test_the_batch_system_says_on_the_command_line_when_a_job_would_start(
    site: BrokerClient, tmp_path: Path
) -> None:
    file = tmp_path / "job.jdl"
    file.write_text(f'Executable = "/bin/true"; {THERE}')
    told = await asyncio.to_thread(crossdesk, "job", "list-match", "--starts", str(file))
    assert (told.code, "sent now, it would start" in told.out, "says Slurm" in told.out) == (0, True, True)
    whole = await asyncio.to_thread(crossdesk, "job", "list-match", "--starts", "--json", str(file))
    assert {one["source"] for one in whole.json["forecasts"]} == {"Slurm"}
    with_file = ("job", "list-match", "--starts", "--resources", "r.toml", str(file))
    refused = await asyncio.to_thread(crossdesk, *with_file)
    assert (refused.code, "Leave out --starts or --resources." in refused.err) == (1, True)


async def test_own_jobs_are_none_of_them_and_they_are_none_of_ours_also_after_a_kill(
    site: BrokerClient, cluster: Cluster, running_broker: RunningBroker, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    wait = f"while [ ! -e {gate} ]; do sleep 0.1; done"
    theirs = sbatch(cluster, tmp_path, "other.abcdefgh.x.1", wait)  # as another CrossDesk calls its jobs
    own = await script(site, wait, description=THERE)
    await reach(site, own, "Running")
    assert [job.id for job in (await site.outside_jobs(wait=True)).jobs] == [theirs]
    running_broker.kill()
    running_broker.start()
    kept = await site.outside_jobs(refresh=False)
    assert [job.id for job in kept.jobs] == [theirs]  # from the store, before any site is asked
    await known(site, NAME)
    assert [job.id for job in (await site.outside_jobs(wait=True)).jobs] == [theirs]
    assert len(cluster.present()) == 2
    assert (await site.jobs_page()).total == 1
    gate.touch()
    await reach(site, own, "Done")
    assert (await outside(site, theirs, "Done")).exit_code == 0


async def test_the_switch_of_a_site_turns_it_off_and_no_question_goes_out(
    site: BrokerClient, cluster: Cluster, spec: SiteSpec, tmp_path: Path
) -> None:
    theirs = sbatch(cluster, tmp_path, "waits", "true", "--begin=now+1day")
    await outside(site, theirs, "Waiting")
    changed = await asyncio.to_thread(crossdesk, "site", "change", NAME, "--no-outside")
    assert changed.code == 0
    assert not (await known(site, NAME)).spec.outside
    found = await site.outside_jobs(wait=True)
    assert (found.jobs, found.polled, found.silent) == ([], {}, {})
    with pytest.raises(NotFound, match="not shown for this site"):
        await site.cancel_outside(NAME, theirs)
    await submit(site, 'Executable = "/bin/true";', site=NAME)
    assert theirs in cluster.present()
