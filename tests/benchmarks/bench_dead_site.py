"""What a site that takes connections and never answers costs those who use other sites."""

# Needs: cluster
from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.wire.sites import SiteSpec
from tests.benchmarks.broker import running, submission
from tests.benchmarks.figure import Figure
from tests.testbed.sshd import Sshd

JOBS = 60
THERE = 30
"""Jobs sent to the site that dies."""
DEAD = "dead"


def measure() -> list[Figure]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="cd-dead-") as folder, _server(Path(folder)) as server:
        return asyncio.run(_measure(Path(folder), server))


@contextmanager
def _server(folder: Path) -> Iterator[Sshd]:
    """A real SSH server that the broker's user knows."""
    server = Sshd(folder / "sshd").start()
    files = Path(os.environ["HOME"]) / ".ssh"
    files.mkdir(mode=0o700, parents=True, exist_ok=True)
    (files / "config").write_text(server.alias(DEAD))
    (files / "known_hosts").write_text(server.known_hosts.read_text())
    try:
        yield server
    finally:
        server.signal(signal.SIGCONT)
        server.close()


async def _measure(folder: Path, server: Sshd) -> list[Figure]:
    async with running() as (_, client):
        await _spent(client)
        before = await _spent(client)
        spec = SiteSpec(name=DEAD, kind="shell", host=DEAD, directory=str(folder / "there"))
        await client.add_site(spec)
        while not (await client.sites())[0].ces:
            await asyncio.sleep(0.05)
        server.signal(signal.SIGSTOP)
        for _ in range(THERE):
            await client.submit(submission(hold="").model_copy(update={"site": DEAD}))
        after = await _spent(client)
    names = ("submission", "decision", "start of a job")
    return [
        Figure(
            f"{name} elsewhere, added by a site that never answers with {THERE} jobs on their way, {kind}",
            round(1000 * (with_[index] - without[index]), 2),
            "ms",
            at_most=10.0 if kind == "median" and index < 2 else None,
        )
        for kind, without, with_ in zip(("median", "9 of 10"), before, after, strict=True)
        for index, name in enumerate(names)
    ]


async def _spent(client: BrokerClient) -> tuple[list[float], list[float]]:
    """Median and ninth tenth of the seconds until the receipt, the decision and the start of local jobs."""
    spent: list[tuple[float, float, float]] = []
    for _ in range(JOBS):
        begin = time.perf_counter()
        job = (await client.submit(submission(hold="").model_copy(update={"site": "local"}))).ids[0]
        receipt = time.perf_counter() - begin
        row = (await client.job(job)).row
        while row["started"] is None:
            await asyncio.sleep(0.002)
            row = (await client.job(job)).row
        spent.append((receipt, row["matched"] - row["submitted"], row["started"] - row["submitted"]))
    columns = [sorted(column) for column in zip(*spent, strict=True)]
    return [one[JOBS // 2] for one in columns], [one[9 * JOBS // 10] for one in columns]
