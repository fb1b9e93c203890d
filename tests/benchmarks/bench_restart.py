"""Restart of a broker with 100,000 finished and 1,000 live jobs, and the memory it then has."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.jobs.states import JobState
from tests.benchmarks.broker import HELD, running, submission
from tests.benchmarks.figure import Figure

FINISHED = 100_000
LIVE = 1000
_CALL = 10_000


def measure() -> list[Figure]:
    """Seconds until the restarted broker answers, and its resident memory."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with running() as (broker, client):
        await _fill(client)
        await asyncio.to_thread(broker.kill)
        begin = time.perf_counter()
        await asyncio.to_thread(broker.start)
        restart = time.perf_counter() - begin
        info = await client.info()
        live = sum(count for state, count in info.jobs.items() if JobState(state).active)
        if (sum(info.jobs.values()) - live, live) != (FINISHED, LIVE):
            raise RuntimeError(f"the jobs are not all there: {info.jobs}")
        memory = _resident(info.pid)
    return [
        Figure(f"restart with {FINISHED} finished and {LIVE} live jobs", round(restart, 3), "s", at_most=2.0),
        Figure("memory of the broker with them", round(memory / 1e6, 1), "MB", at_most=300),
    ]


async def _fill(client: BrokerClient) -> None:
    """Finished jobs are held ones that were canceled: their records are as whole as any."""
    values = [str(number) for number in range(_CALL)]
    text = 'Executable = "/bin/echo"; Arguments = "_PARAM_";'
    for _ in range(FINISHED // _CALL):
        receipt = await client.submit(submission(text, values=values))
        await client.cancel(receipt.ids)
    await client.submit(submission(text, HELD, values[:LIVE]))


def _resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the kernel does not say how much memory the broker has")
