"""A broker that knows 10,000 resources: its pages, list-match, and what others wait meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure

RESOURCES = 10_000
PAGE = 1000
SECONDS = 6.0
TIMES = 20
LONGEST = {"pages": 25.0, "matches": 40.0, "refresh": 60.0}
"""Milliseconds that another request may wait: a few turns of the loop."""
WANTED = """
Executable = "/bin/true";
Requirements = other.GlueHostMainMemoryRAMSize >= 2048 && Member("OPENMPI",
    other.GlueHostApplicationSoftwareRunTimeEnvironment) && other.GlueCEStateFreeCPUs > 10
    && other.GlueHostOperatingSystemName == "Debian" && other.GlueCEPolicyMaxWallClockTime > 1000;
Rank = other.GlueHostBenchmarkSI00 - 2 * other.GlueCEStateWaitingJobs;
"""
RESOURCE = """
[[resources]]
ce = "ce{number:05}.example.org:2119/jobmanager-pbs-long"
site = "site{site}"
GlueCEInfoTotalCPUs = {total}
GlueCEStateFreeCPUs = {free}
GlueCEStateWaitingJobs = {waiting}
GlueCEStateStatus = "Production"
GlueCEPolicyMaxWallClockTime = {wall}
GlueHostMainMemoryRAMSize = {memory}
GlueHostBenchmarkSI00 = {speed}
GlueHostOperatingSystemName = "{system}"
GlueHostApplicationSoftwareRunTimeEnvironment = ["{tag}", "GLITE"]
"""
Work = Callable[[BrokerClient], Awaitable[object]]


def measure() -> list[Figure]:
    """All figures."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    state = Path(os.environ["CROSSDESK_STATE_DIR"])
    state.mkdir(parents=True, exist_ok=True)
    (state / "grid.toml").write_text("".join(_resources()))
    source = f'[[sources]]\nname = "grid"\nkind = "file"\npath = "{state}/grid.toml"\n'
    (state / "broker.toml").write_text(source)
    async with running() as (_, client):
        known = await _until_known(client)
        page = await _typical(lambda: client.resources_page(0, PAGE))
        matched = await _typical(lambda: client.match(WANTED, assume_access=True))
        waits = {name: await _waits(name) for name in ("pages", "matches", "refresh")}
    return [
        Figure(f"{RESOURCES} resources of a file known after", round(known, 2), "s", at_most=3.0),
        Figure(f"page of {PAGE} resources", round(page * 1000, 1), "ms", at_most=10.0),
        Figure(
            f"list-match over {RESOURCES}, page of 200 with clauses",
            round(matched * 1000, 1),
            "ms",
            at_most=40.0,
        ),
        *(
            Figure(
                f"longest answer to another request during {name}",
                round(worst * 1000, 1),
                "ms",
                at_most=LONGEST[name],
            )
            for name, worst in waits.items()
        ),
    ]


def _resources() -> list[str]:
    chance = random.Random(7)
    return [
        RESOURCE.format(
            number=number,
            site=number % 300,
            total=chance.randrange(8, 2000),
            free=chance.randrange(200),
            waiting=chance.randrange(50),
            wall=chance.randrange(10, 10_000),
            memory=chance.choice((1024, 2048, 4096, 8192)),
            speed=chance.randrange(300, 3000),
            system=chance.choice(("Debian", "Scientific Linux")),
            tag=chance.choice(("OPENMPI", "MPICH")),
        )
        for number in range(RESOURCES)
    ]


async def _until_known(client: BrokerClient) -> float:
    begin = time.perf_counter()
    while (await client.resources_page(limit=1)).total <= RESOURCES:
        await asyncio.sleep(0.02)
    return time.perf_counter() - begin


async def _typical(work: Callable[[], Awaitable[object]]) -> float:
    spent = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        await work()
        spent.append(time.perf_counter() - begin)
    return sorted(spent)[TIMES // 2]


async def _waits(load: str) -> float:
    """The longest answer to a small request while another process asks for much."""
    words = [sys.executable, "-m", "tests.benchmarks.bench_knowledge", load]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    await process.stdout.readline()
    worst, until = 0.0, time.perf_counter() + SECONDS
    async with await connect(start=False) as client:
        await client.policies()
        while time.perf_counter() < until:
            begin = time.perf_counter()
            await client.sources()
            worst = max(worst, time.perf_counter() - begin)
            await asyncio.sleep(0.002)
    process.terminate()
    await process.wait()
    return worst


async def _load(name: str) -> None:
    """Ask for one thing for ever."""
    work: dict[str, Work] = {
        "pages": lambda client: client.resources_page(0, 5000),
        "matches": lambda client: client.match(WANTED, assume_access=True, limit=500),
        "refresh": lambda client: client.refresh_sources(["grid"]),
    }
    async with await connect(start=False) as client:
        await work[name](client)
        print("asking", flush=True)
        while True:
            await work[name](client)


if __name__ == "__main__":
    asyncio.run(_load(sys.argv[1]))
