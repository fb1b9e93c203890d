"""The launcher of one attempt over several sites, a process that outlives the broker (CB-AL-06).

    python -m broker_core.launching.launcher_process FOLDER

It runs mpiexec of MPICH with the launcher `manual`, and stands between it and the proxies that the sites
start: each component dials a port of its own, or the hub of the job, which dials that port for it. That all
its processes have called MPI_Init is the word with which its proxy enters the barrier there; what mpiexec
says to it from then on is kept back until the barrier is released. SIGUSR1: look whether it is. SIGTERM: end
all.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import uvloop

from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.launching.launcher_folder import VARIABLE, LauncherFolder
from broker_core.launching.overlay_hub import OverlayHub, overlay_address
from broker_core.launching.relay_leg import meet
from broker_core.worker.scripts.overlay_link import CONTROL_PORT

_IN_BARRIER = b"cmd=barrier_in"
"""With this a proxy says that all its processes have reached the first barrier, which is that of MPI_Init."""
_LAUNCH, _LAST = "HYDRA_LAUNCH: ", "HYDRA_LAUNCH_END"
_PORT = re.compile(r"--control-port \S+:(\d+)")
_WORDS = re.compile(r"[A-Za-z0-9_./:=+,@ -]+")
"""What stands in a command of a proxy: it is split at blanks by a shell."""
_VERSION = re.compile(rb"^ *Version: *([A-Za-z0-9.+_~]+)$", re.MULTILINE)
"""In what mpiexec says of itself."""
_RANK = 'exec /bin/sh "$CROSSDESK_MPI_RANK"'
"""How a process begins where its proxy runs: `worker/scripts/mpi_start.sh` wrote what."""
_CHUNK = 65536
_COUNT_INTERVAL = 1.0
"""Seconds between two looks at what the hub has carried."""


class CountingHub:
    """A hub whose figures stand in the folder of the launcher."""

    def __init__(self, folder: LauncherFolder, secrets: Sequence[str], ports: Sequence[int]) -> None:
        """`ports`: of the launcher on this machine; both by the index of the component."""
        self._folder, self._secrets = folder, secrets
        self._hub = OverlayHub(secrets, ports)
        self._written: list[tuple[int, int]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, address: str, relay: str, overlay: OverlayWay | None) -> list[str]:
        """Listen at an address, or wait at a relay (HOST:PORT) if one is given. Returns what the carrier of
        each component is to know, of which `overlay` is a part. Raises OSError."""
        host, _, port = relay.rpartition(":")
        host = host.strip("[]")
        if relay:
            calls = [meet(self._hub, one, host, int(port)) for one in self._hub.members]
            self._tasks += map(asyncio.ensure_future, calls)
        else:
            host, port = address, str(await self._hub.open(address))
        self._tasks.append(asyncio.ensure_future(self._count()))
        more = " preload" if overlay is OverlayWay.PRELOAD else ""
        return [
            f"{host} {port} {overlay_address(index)} {one}{more}" for index, one in enumerate(self._secrets)
        ]

    async def close(self) -> None:
        """End all connections; the figures stay."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._hub.close()
        self._tell()

    async def _count(self) -> None:
        while True:
            self._tell()
            await asyncio.sleep(_COUNT_INTERVAL)

    def _tell(self) -> None:
        figures = self._hub.traffic()
        if figures != self._written:
            self._folder.tell_traffic(figures)
            self._written = figures


class Launcher:
    """Mpiexec, and the way of each component to it."""

    def __init__(self, folder: LauncherFolder) -> None:
        self._folder = folder
        self._settings = folder.settings()
        self._released = asyncio.Event()
        self._called: Counter[int] = Counter()
        """By component, so many of its proxies."""
        self._gathered: Counter[int] = Counter()
        self._control = 0
        self._hub_calls: list[str] = []
        """How each component calls the hub, if there is one."""
        self._ways: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """Until mpiexec has ended; its exit code."""
        over = self._settings.secrets
        servers = [
            await asyncio.start_server(
                partial(self._dialed, index), "127.0.0.1" if over else self._settings.address, 0
            )
            for index in range(len(self._settings.chunks))
        ]
        ports = [server.sockets[0].getsockname()[1] for server in servers]
        hub = CountingHub(self._folder, over, ports) if over else None
        if hub:
            settings = self._settings
            self._hub_calls = await hub.open(settings.address, settings.relay, settings.overlay)
        version = await self._version()
        with self._folder.output.open("ab") as output:
            mpiexec = await asyncio.create_subprocess_exec(
                *self._command(), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                stderr=output, cwd="/", env={"PATH": os.defpath, VARIABLE: str(self._folder.path)},
            )  # fmt: skip
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGUSR1, self._check_release)
            loop.add_signal_handler(signal.SIGTERM, partial(_kill, mpiexec))
            self._check_release()
            assert mpiexec.stdout is not None
            words = await self._proxies(mpiexec.stdout, ports)
            self._folder.tell_proxies([f"{version} {one}".lstrip() for one in words])
            while line := await mpiexec.stdout.readline():
                output.write(line)
        code = await mpiexec.wait()
        if hub:
            await hub.close()
        for server in servers:
            server.close()
        for way in self._ways:
            way.cancel()
        await asyncio.gather(*self._ways, return_exceptions=True)
        return code

    def _command(self) -> list[str]:
        cpus = [count for chunks in self._settings.chunks for count in chunks]
        hosts = ",".join(f"proxy{number}:{count}" for number, count in enumerate(cpus))
        words = [self._settings.mpiexec, "-launcher", "manual", "-localhost", "127.0.0.1", "-hosts", hosts]
        words += ["-n", str(sum(cpus)), "-genvnone", "-wdir", "/"]
        return [*words, "/bin/sh", "-c", _RANK]

    async def _version(self) -> str:
        """Of MPICH here, which has to be that of the proxies; empty if it does not say it."""
        asked = await asyncio.create_subprocess_exec(
            self._settings.mpiexec, "--version", stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": os.defpath, VARIABLE: str(self._folder.path)},
        )  # fmt: skip
        answer, _ = await asked.communicate()
        found = _VERSION.search(answer)
        return found[1].decode() if found else ""

    async def _proxies(self, stdout: asyncio.StreamReader, ports: list[int]) -> list[str]:
        """The words of the first proxy of each component, with its port; empty where mpiexec says none."""
        found: list[str] = []
        owners = [index for index, chunks in enumerate(self._settings.chunks) for _ in chunks]
        while line := (await stdout.readline()).decode("utf-8", "replace").strip():
            if line == _LAST:
                break
            if line.startswith(_LAUNCH) and (port := _PORT.search(line)) and _WORDS.fullmatch(line):
                self._control = int(port[1])
                if len(found) == len(owners):
                    return []
                own = f"--control-port {self._settings.address}:{ports[owners[len(found)]]}"
                if self._settings.secrets:
                    own = f"--control-port 127.0.0.1:{CONTROL_PORT}"
                words = _PORT.sub(own, line.removeprefix(_LAUNCH)).split(" ", 1)
                hub = f"\n{self._hub_calls[owners[len(found)]]}" if self._hub_calls else ""
                found.append(words[1] + hub)
        if len(found) != len(owners):
            return []
        return [found[owners.index(index)] for index in range(len(ports))]

    def _check_release(self) -> None:
        if self._folder.release.exists():
            self._released.set()

    def _dialed(self, index: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Each proxy of a component calls once: whoever comes after them is none."""
        if self._called[index] == len(self._settings.chunks[index]):
            writer.close()
            return
        self._called[index] += 1
        way = asyncio.create_task(self._carry(index, reader, writer))
        self._ways.add(way)
        way.add_done_callback(self._ways.discard)

    async def _carry(self, index: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what a component and mpiexec say to each other; the end of one ends the other."""
        inner: asyncio.StreamWriter | None = None
        try:
            replies, inner = await asyncio.open_connection("127.0.0.1", self._control)
            waits = asyncio.Event()
            up = asyncio.create_task(self._up(index, reader, inner, waits))
            down = asyncio.create_task(self._down(replies, writer, waits))
            try:
                await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            finally:
                up.cancel()
                down.cancel()
                await asyncio.gather(up, down, return_exceptions=True)
        except OSError:
            # Mpiexec does not listen any more: the component learns it by the end of its connection.
            return
        finally:
            writer.close()
            if inner is not None:
                inner.close()

    async def _up(
        self, index: int, reader: asyncio.StreamReader, inner: asyncio.StreamWriter, waits: asyncio.Event
    ) -> None:
        """`waits` is set once the processes of this proxy wait in MPI_Init."""
        recent = b""
        while data := await reader.read(_CHUNK):
            if not waits.is_set():
                recent = recent[-len(_IN_BARRIER) :] + data
                if _IN_BARRIER in recent:
                    waits.set()
                    self._gathered[index] += 1
                    if self._gathered[index] == len(self._settings.chunks[index]):
                        self._folder.gathered(index)
            inner.write(data)
            await inner.drain()

    async def _down(
        self, replies: asyncio.StreamReader, writer: asyncio.StreamWriter, waits: asyncio.Event
    ) -> None:
        """Mpiexec lets nobody out before all are in, and is answered to by nobody who waits: a part of a
        message may have got through."""
        while data := await replies.read(_CHUNK):
            if waits.is_set():
                await self._released.wait()
            writer.write(data)
            await writer.drain()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


def main(path: str) -> None:
    """Run the launcher of a folder."""
    folder = LauncherFolder(Path(path))
    folder.identify()
    code = uvloop.run(Launcher(folder).run())
    if code >= 0:
        # One that was killed has told nothing: it is as if this had been killed too.
        folder.tell_end(code)


if __name__ == "__main__":
    main(sys.argv[1])
