"""The channel of interactive jobs on loopback: echo of keys, bulk output, start; OpenSSH beside it."""

# Needs: cluster
from __future__ import annotations

import asyncio
import base64
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.shadow.session import ShadowSession
from broker_core.interactive.shadow.session_events import OutputReceived, Status
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.interactive.pair import Bench, bench
from tests.testbed.sshd import Sshd
from tests.waiting import within

KEYS = 400
BULK = 100_000_000
STARTS = 7
_SPEW = "stty -onlcr; echo ready; read go; cat {file}; echo; echo over; read end"


def measure() -> list[Figure]:
    """Milliseconds of an echo, megabytes a second, seconds of a start."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="cd-channel-") as folder:
        bulk = Path(folder) / "bulk"
        bulk.write_bytes(base64.encodebytes(os.urandom(BULK * 3 // 4)).lower()[:BULK])
        server = Sshd(Path(folder) / "sshd").start()
        try:
            theirs = await asyncio.to_thread(_openssh, server, bulk)
        finally:
            server.close()
        ours = await _echo(Path(folder) / "echo")
        speed, busy = await _spew(Path(folder) / "spew", bulk)
    starts = await _starts()
    bound = max(1.0, 4 * theirs[0])
    return [
        Figure("echo of a key, median", round(statistics.median(ours), 3), "ms", at_most=round(bound, 3)),
        Figure("echo of a key, 99th percentile", round(_percentile(ours), 3), "ms", at_most=10),
        Figure("echo of a key by OpenSSH, median", round(theirs[0], 3), "ms"),
        Figure(
            "cat of 100 MB through a terminal", round(speed, 1), "MB/s", at_least=round(0.7 * theirs[1], 1)
        ),
        Figure("cat of 100 MB by OpenSSH", round(theirs[1], 1), "MB/s"),
        Figure("echo of a key meanwhile, worst", round(max(busy), 1), "ms", at_most=50),
        Figure("submit to first byte, median", round(statistics.median(starts), 3), "s", at_most=0.5),
    ]


class Listening:
    """Reads a session and wakes who waits for a byte."""

    def __init__(self, session: ShadowSession) -> None:
        self.session = session
        self.size = 0
        self.found = 0
        self._changed = asyncio.Event()
        self.task = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        async for event in self.session.events():
            if isinstance(event, OutputReceived):
                self.size += len(event.data)
                self.found += event.data.count(b"Z")
            if isinstance(event, OutputReceived | Status):
                self._changed.set()

    async def until(self, true: Callable[[], bool]) -> None:
        while not true():
            self._changed.clear()
            await within(self._changed.wait(), 120)

    async def echo(self) -> float:
        """Milliseconds until a key comes back."""
        before, begin = self.found, time.perf_counter()
        self.session.write(b"Z")
        await self.until(lambda: self.found > before)
        return (time.perf_counter() - begin) * 1000


async def _listening(made: Bench, words: list[str]) -> Listening:
    await made.start_agent(words)
    heard = Listening(made.desk())
    await heard.until(lambda: heard.session.status.writer)
    return heard


async def _echo(folder: Path) -> list[float]:
    folder.mkdir()
    async with bench(folder) as made:
        heard = await _listening(made, ["/bin/sh", "-c", "stty -icanon; exec cat >/dev/null"])
        times = [await heard.echo() for _ in range(KEYS + 50)]
        heard.task.cancel()
    return times[50:]


async def _spew(folder: Path, bulk: Path) -> tuple[float, list[float]]:
    """Megabytes a second, and the echoes of keys typed meanwhile."""
    folder.mkdir()
    async with bench(folder) as made:
        heard = await _listening(made, ["/bin/sh", "-c", _SPEW.format(file=bulk)])
        await heard.until(lambda: heard.size >= 6)
        begin = time.perf_counter()
        heard.session.write(b"\n")
        echoes = []
        while heard.size < BULK * 0.9:
            echoes.append(await heard.echo())
            await asyncio.sleep(0.1)
        await heard.until(lambda: heard.size >= BULK)
        spent = time.perf_counter() - begin
        heard.task.cancel()
    return BULK / 1e6 / spent, echoes


async def _starts() -> list[float]:
    async with running() as (_, client):
        times = [await _start(client) for _ in range(STARTS + 1)]
    return times[1:]


async def _start(client: BrokerClient) -> float:
    text = 'Executable = "/bin/echo"; Arguments = "ready"; Interactive = true;'
    begin = time.perf_counter()
    job = (await client.submit_prepared(await prepare(text, Path("/")))).ids[0]
    session = await open_session(client, job)
    spent = 0.0
    async for event in session.events():
        if isinstance(event, OutputReceived) and not spent:
            spent = time.perf_counter() - begin
    await session.close()
    return spent


def _openssh(server: Sshd, bulk: Path) -> tuple[float, float]:
    """Median milliseconds of an echo, and megabytes a second."""
    options = ["-F", "none", "-o", f"UserKnownHostsFile={server.known_hosts}", "-o", "IdentitiesOnly=yes"]
    to = ["ssh", *options, "-i", str(server.key), "-p", str(server.port), "-tt", f"root@{server.address}"]
    with subprocess.Popen(
        [*to, "stty -icanon; echo ready; exec cat >/dev/null"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    ) as echoing:
        assert echoing.stdin is not None
        assert echoing.stdout is not None
        seen = b""
        while b"ready\r\n" not in seen:
            seen += echoing.stdout.read(100) or b""
        times = []
        for _ in range(KEYS + 50):
            begin = time.perf_counter()
            echoing.stdin.write(b"Z")
            echoing.stdout.read(1)
            times.append((time.perf_counter() - begin) * 1000)
        echoing.kill()
    begin, size = time.perf_counter(), 0
    with subprocess.Popen(
        [*to, f"stty -onlcr; cat {bulk}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as spewing:
        assert spewing.stdout is not None
        while part := spewing.stdout.read(1 << 16):
            size += len(part)
    if size < BULK:
        raise RuntimeError(f"only {size} bytes came through OpenSSH")
    return statistics.median(times[50:]), BULK / 1e6 / (time.perf_counter() - begin)


def _percentile(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]
