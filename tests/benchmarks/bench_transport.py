"""Commands and bytes over one SSH connection to a real server on this machine."""

# Needs: cluster
from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median

from broker_core.sites.link import Link
from broker_core.sites.transport.address import SshFiles
from broker_core.sites.transport.contract import Transport
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec
from tests.benchmarks.figure import Figure
from tests.testbed.sshd import Sshd

COMMANDS = 200
CONNECTIONS = 10
PIECE = bytes(2**20)
MIB = 100


def measure() -> list[Figure]:
    """Milliseconds for a command of no work, and to connect; MiB/s both ways."""
    with tempfile.TemporaryDirectory(prefix="cd-bench-") as folder:
        server = Sshd(Path(folder) / "server").start()
        try:
            return asyncio.run(_measured(server, Path(folder)))
        finally:
            server.close()


async def _measured(server: Sshd, folder: Path) -> list[Figure]:
    files = SshFiles(folder / "config")
    files.config.write_text(server.alias("cluster"))
    (folder / "known_hosts").write_text(server.known_hosts.read_text())
    connects = [await _connect(files) for _ in range(CONNECTIONS)]
    way = _way(files)
    await way.open()
    one = [await _spent(way) for _ in range(COMMANDS)]
    begin = time.perf_counter()
    await asyncio.gather(*(way.run("true") for _ in range(COMMANDS)))
    many = (time.perf_counter() - begin) / COMMANDS
    figures = [
        Figure("connecting until the first command has ended", 1000 * median(connects[1:]), "ms"),
        Figure("one command on a connection that stands", 1000 * median(one), "ms"),
        Figure("a command, 4 at once", 1000 * many, "ms"),
        *await _transfers(way),
    ]
    await way.close()
    return figures


def _way(files: SshFiles) -> Transport:
    return transport_for(
        SiteSpec(name="site", kind="shell", host="cluster"), Link(lambda _: None), files=files
    )


async def _connect(files: SshFiles) -> float:
    way = _way(files)
    begin = time.perf_counter()
    await way.open()
    await way.run("true")
    spent = time.perf_counter() - begin
    await way.close()
    return spent


async def _spent(way: Transport) -> float:
    begin = time.perf_counter()
    await way.run("true")
    return time.perf_counter() - begin


async def _transfers(way: Transport) -> list[Figure]:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MIB):
            yield PIECE

    begin = time.perf_counter()
    await way.send("cat >/dev/null", pieces())
    sent = time.perf_counter() - begin
    begin = time.perf_counter()
    await way.receive(f"head -c {MIB * len(PIECE)} /dev/zero", lambda _piece: None)
    received = time.perf_counter() - begin
    return [
        Figure("bytes to the site", MIB / sent, "MiB/s"),
        Figure("bytes from the site", MIB / received, "MiB/s"),
    ]
