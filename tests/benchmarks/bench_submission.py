"""Durable submissions: single ones over 8 connections, and many in one call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.wire.submission import Submission, SubmissionItem
from tests.benchmarks.broker import HELD, RawConnection, raw_submission, running, submission
from tests.benchmarks.figure import Figure

CONNECTIONS = 8
SECONDS = 5.0
DISTINCT = 5000
VALUES = 10_000


def measure() -> list[Figure]:
    """All submission figures."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with running() as (_, client):
        with_client = await _rate_with_client()
        raw = await _rate_raw()
        distinct = await _bulk(
            client, [f'Executable = "/bin/true"; Arguments = "{n}";' for n in range(DISTINCT)]
        )
        begin = time.perf_counter()
        await client.submit(submission('Executable = "/bin/echo"; Arguments = "_PARAM_";', values=_values()))
        swept = VALUES / (time.perf_counter() - begin)
    return [
        Figure(
            "single submissions, project's client, 8 connections", round(with_client, 1), "1/s", at_least=400
        ),
        Figure("single submissions, raw load, 8 connections", round(raw, 1), "1/s", at_least=1000),
        Figure(f"{DISTINCT} distinct descriptions in one call", round(distinct, 1), "1/s", at_least=1500),
        Figure(f"one description with {VALUES} values in one call", round(swept, 1), "1/s", at_least=10_000),
    ]


def _values() -> list[str]:
    return [str(number) for number in range(VALUES)]


async def _bulk(client: BrokerClient, descriptions: list[str]) -> float:
    items = [SubmissionItem(description=text) for text in descriptions]
    call = Submission(key="bulk-of-distinct", items=items, hold=HELD)
    begin = time.perf_counter()
    await client.submit(call)
    return len(items) / (time.perf_counter() - begin)


async def _rate_with_client() -> float:
    async def worker(until: float) -> int:
        count = 0
        async with await connect(start=False) as client:
            while time.perf_counter() < until:
                await client.submit(submission(f'Executable = "/bin/true"; Arguments = "{count}";'))
                count += 1
        return count

    return await _together(worker)


async def _rate_raw() -> float:
    async def worker(until: float) -> int:
        count = 0
        connection = await RawConnection.open()
        while time.perf_counter() < until:
            await connection.post("/submissions", raw_submission(count))
            count += 1
        connection.close()
        return count

    return await _together(worker)


async def _together(worker: Callable[[float], Awaitable[int]]) -> float:
    begin = time.perf_counter()
    done = await asyncio.gather(*(worker(begin + SECONDS) for _ in range(CONNECTIONS)))
    return sum(done) / (time.perf_counter() - begin)
