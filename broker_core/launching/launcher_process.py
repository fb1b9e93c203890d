"""The launcher of one attempt over several sites, a process that outlives the broker (CB-AL-06).

    python -m broker_core.launching.launcher_process FOLDER

It runs mpiexec of MPICH with the launcher `manual`, and stands between it and the proxies that the sites
start: each component dials a port of its own. That all its processes have called MPI_Init is the word with
which its proxy enters the barrier there; what mpiexec says to it from then on is kept back until the barrier
is released. SIGUSR1: look whether it is. SIGTERM: end all.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from broker_core.launching.launcher_folder import VARIABLE, LauncherFolder

_IN_BARRIER = b"cmd=barrier_in"
"""With this a proxy says that all its processes have reached the first barrier, which is that of MPI_Init."""
_LAUNCH, _LAST = "HYDRA_LAUNCH: ", "HYDRA_LAUNCH_END"
_PORT = re.compile(r"--control-port \S+:(\d+)")
_WORDS = re.compile(r"[A-Za-z0-9_./:=+,@ -]+")
"""What stands in a command of a proxy: it is split at blanks by a shell."""
_RANK = 'exec /bin/sh "$CROSSDESK_MPI_RANK"'
"""How a process begins where its proxy runs: `worker/scripts/mpi_start.sh` wrote what."""
_CHUNK = 65536


class Launcher:
    """Mpiexec, and the way of each component to it."""

    def __init__(self, folder: LauncherFolder) -> None:
        self._folder = folder
        self._settings = folder.settings()
        self._released = asyncio.Event()
        self._called: set[int] = set()
        self._gathered: set[int] = set()
        self._control = 0
        self._ways: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """Until mpiexec has ended; its exit code."""
        servers = [
            await asyncio.start_server(partial(self._dialed, index), self._settings.address, 0)
            for index in range(len(self._settings.cpus))
        ]
        ports = [server.sockets[0].getsockname()[1] for server in servers]
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
            self._folder.tell_proxies(await self._proxies(mpiexec.stdout, ports))
            while line := await mpiexec.stdout.readline():
                output.write(line)
        code = await mpiexec.wait()
        for server in servers:
            server.close()
        for way in self._ways:
            way.cancel()
        await asyncio.gather(*self._ways, return_exceptions=True)
        return code

    def _command(self) -> list[str]:
        cpus = self._settings.cpus
        hosts = ",".join(f"component{index}:{count}" for index, count in enumerate(cpus))
        words = [self._settings.mpiexec, "-launcher", "manual", "-localhost", "127.0.0.1", "-hosts", hosts]
        words += ["-n", str(sum(cpus)), "-genvnone", "-wdir", "/"]
        return [*words, "/bin/sh", "-c", _RANK]

    async def _proxies(self, stdout: asyncio.StreamReader, ports: list[int]) -> list[str]:
        """The words of each proxy, each with a port of its own; empty where mpiexec says none."""
        found: list[str] = []
        while line := (await stdout.readline()).decode("utf-8", "replace").strip():
            if line == _LAST:
                break
            if line.startswith(_LAUNCH) and (port := _PORT.search(line)) and _WORDS.fullmatch(line):
                self._control = int(port[1])
                own = f"--control-port {self._settings.address}:{ports[len(found)]}"
                words = _PORT.sub(own, line.removeprefix(_LAUNCH)).split(" ", 1)
                found.append(words[1])
        return found if len(found) == len(ports) else []

    def _check_release(self) -> None:
        if self._folder.release.exists():
            self._released.set()

    def _dialed(self, index: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Each component has one proxy, which calls once: whoever comes after it is none."""
        if index in self._called:
            writer.close()
            return
        self._called.add(index)
        way = asyncio.create_task(self._carry(index, reader, writer))
        self._ways.add(way)
        way.add_done_callback(self._ways.discard)

    async def _carry(self, index: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what a component and mpiexec say to each other; the end of one ends the other."""
        inner: asyncio.StreamWriter | None = None
        try:
            replies, inner = await asyncio.open_connection("127.0.0.1", self._control)
            up = asyncio.create_task(self._up(index, reader, inner))
            down = asyncio.create_task(self._down(index, replies, writer))
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

    async def _up(self, index: int, reader: asyncio.StreamReader, inner: asyncio.StreamWriter) -> None:
        recent = b""
        while data := await reader.read(_CHUNK):
            if index not in self._gathered:
                recent = recent[-len(_IN_BARRIER) :] + data
                if _IN_BARRIER in recent:
                    self._gathered.add(index)
                    self._folder.gathered(index)
            inner.write(data)
            await inner.drain()

    async def _down(self, index: int, replies: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Mpiexec lets nobody out before all are in, and is answered to by nobody who waits: a part of a
        message may have got through."""
        while data := await replies.read(_CHUNK):
            if index in self._gathered:
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
    code = asyncio.run(Launcher(folder).run())
    if code >= 0:
        # One that was killed has told nothing: it is as if this had been killed too.
        folder.tell_end(code)


if __name__ == "__main__":
    main(sys.argv[1])
