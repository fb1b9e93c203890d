"""A sweep with `MaxRunningJobs`: so many at a time, and all in the end."""

from __future__ import annotations

from pathlib import Path

from broker_core.client.client import BrokerClient
from tests.broker.jobs import reach, submit
from tests.waiting import eventually


async def test_the_jobs_of_a_sweep_run_so_many_at_a_time(client: BrokerClient, isolated: Path) -> None:
    # Each leaves a mark while it runs, and fails where another one is there.
    run = f"mkdir {isolated}/mark && sleep 0.2 && rmdir {isolated}/mark"
    sweep = f"JobType = \"Parametric\"; Parameters = 4; MaxRunningJobs = 1; Arguments = \"-c '{run}'\";"
    jobs = (await submit(client, f'Executable = "/bin/sh"; {sweep}', hold="first look")).ids
    assert len(jobs) == 4
    await client.release(jobs)
    states = (await client.queue()).columns["state"]
    assert states.count("limited") >= 2
    for job in jobs:
        assert (await reach(client, job, "Done", "Aborted"))["exit_code"] == 0

    async def empty() -> bool:
        return not (await client.queue()).columns["id"]

    await eventually(empty)
