"""Purging many finished jobs: how fast, what the store gives back, and how long others wait meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.command_line.job.following import until_ended
from tests.benchmarks.broker import running, submission
from tests.benchmarks.figure import Figure

JOBS = 20_000
RAN = 500
"""Of them, jobs that ran, with a folder each."""
_CALL = 10_000
_PAUSE = 0.005
_SETTLED = 30.0
"""Seconds within which room is given back."""


def measure() -> list[Figure]:
    """Rows purged in a second, bytes of the store before and after, the longest wait of another request."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with running() as (broker, client):
        store = broker.state_dir / "store"
        ran = await _ran(client)
        ended = await _ended(client)
        before = _size(store)
        waits: list[float] = []
        async with await connect(broker.state_dir, start=False) as other:
            asking = asyncio.create_task(_ask(other, waits))
            rate = await _purge(client, ended)
            with_files = await _purge(client, ran)
            after = await _settled(store, before)
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
    waits.sort()
    return [
        Figure(f"purging {JOBS} finished jobs", round(rate), "1/s", at_least=2000),
        Figure(f"purging {RAN} jobs that ran, with their folders", round(with_files), "1/s"),
        Figure("store before", round(before / 1e6, 1), "MB"),
        Figure("store after", round(after / 1e6, 1), "MB", at_most=round(before / 2e6, 1)),
        Figure("other requests meanwhile, median wait", round(1000 * waits[len(waits) // 2], 2), "ms"),
        Figure("other requests meanwhile, longest wait", round(1000 * waits[-1], 1), "ms"),
    ]


async def _ran(client: BrokerClient) -> list[str]:
    values = [str(number) for number in range(RAN)]
    text = 'Executable = "/bin/echo"; Arguments = "_PARAM_";'
    receipt = await client.submit(submission(text, "", values))
    await until_ended(client, receipt.ids)
    return list(receipt.ids)


async def _ended(client: BrokerClient) -> list[str]:
    """Held jobs that were canceled: their records are as whole as any."""
    ids: list[str] = []
    values = [str(number) for number in range(_CALL)]
    for _ in range(JOBS // _CALL):
        receipt = await client.submit(
            submission('Executable = "/bin/echo"; Arguments = "_PARAM_";', values=values)
        )
        await client.cancel(receipt.ids)
        ids += receipt.ids
    return ids


async def _purge(client: BrokerClient, jobs: list[str]) -> float:
    begin = time.perf_counter()
    outcomes = await client.purge(jobs)
    spent = time.perf_counter() - begin
    if any(outcomes.results.values()):
        raise RuntimeError("a job was not purged")
    return len(jobs) / spent


async def _ask(client: BrokerClient, waits: list[float]) -> None:
    while True:
        begin = time.perf_counter()
        await client.info()
        waits.append(time.perf_counter() - begin)
        await asyncio.sleep(_PAUSE)


async def _settled(store: Path, before: int) -> int:
    """Bytes once the store has not become smaller for two seconds."""
    size, since, end = before, time.monotonic(), time.monotonic() + _SETTLED
    while time.monotonic() < min(since + 2, end):
        if (now := _size(store)) < size:
            size, since = now, time.monotonic()
        await asyncio.sleep(0.1)
    return _size(store)


def _size(store: Path) -> int:
    return sum(path.stat().st_size for path in store.glob("broker.sqlite*") if not path.name.endswith("-shm"))
