"""Runs of jobs at sites that fail."""

from __future__ import annotations

from broker_core.client.client import BrokerClient
from tests.waiting import eventually


async def states(client: BrokerClient, jobs: list[str]) -> set[str]:
    """States that jobs are in."""
    return {(await client.job(job)).row["state"] for job in jobs}


async def run(client: BrokerClient, jobs: list[str]) -> None:
    """Wait until all of them run."""

    async def all_run() -> bool:
        return await states(client, jobs) == {"Running"}

    await eventually(all_run, what="the jobs run")
