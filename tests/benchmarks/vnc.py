"""A VNC server with a program on its display, its viewer on a virtual screen, and a count between."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from broker_core.interactive.channel.pictures import PIXEL
from broker_core.worker.sub_channels.screen.virtual_screen import VirtualScreen
from tests.testbed.ports import free_port
from tests.waiting import within

Process = asyncio.subprocess.Process
_HOST = "127.0.0.1"
_SERVER = ["Xtigervnc", "-SecurityTypes", "None", "-localhost", "-depth", "24", "-displayfd", "1"]
# Without a window manager the full screen covers exactly the screen; no key opens a menu.
_VIEWER = ["xtigervncviewer", "-FullScreen=1", "-RemoteResize=0", "-MenuKey="]
_VIEWER += ["-SecurityTypes=None", "-ReconnectOnError=0", "-AlertOnFatalError=0"]
_PART = 1 << 16
END_TIME = 10.0
"""Seconds that a process has for its end."""


class CountingProxy:
    """Carries connections to a port of this machine, and counts the bytes that come from there."""

    def __init__(self, port: int) -> None:
        self.counted = 0
        self._port = port

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[int]:
        """Listen; gives the port to connect to."""
        async with await asyncio.start_server(self._carry, _HOST, 0) as server:
            yield server.sockets[0].getsockname()[1]

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(_HOST, self._port)
        await asyncio.gather(self._pass(reader, to_server, 0), self._pass(from_server, writer, 1))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: int) -> None:
        with contextlib.suppress(OSError):
            while part := await reader.read(_PART):
                self.counted += counts * len(part)
                writer.write(part)
                await writer.drain()
        writer.close()


@dataclass
class Viewed:
    """A program on the display of a VNC server, and the screen on which the viewer shows it."""

    server: Process
    viewer: Process
    proxy: CountingProxy
    screen: VirtualScreen

    def colors(self, *points: tuple[int, int]) -> list[int]:
        """What the viewer shows now at each of the pixels."""
        shown = self.screen.pixels()
        starts = [y * self.screen.stride + PIXEL * x for x, y in points]
        return [int.from_bytes(shown[start : start + 3], "little") for start in starts]


@asynccontextmanager
async def viewed(
    folder: Path, size: tuple[int, int], words: Sequence[str], options: Sequence[str]
) -> AsyncIterator[Viewed]:
    """Run `words` on the display of a server, and the viewer with its `options`; `folder`: empty."""
    port = free_port()
    proxy = CountingProxy(port)
    async with (
        _server(folder, size, port) as (server, display),
        _process(folder, words, {"DISPLAY": display}),
        proxy.serve() as here,
        _screen(folder, size) as screen,
        _process(folder, [*_VIEWER, *options, f"{_HOST}::{here}"], screen.variables) as viewer,
    ):
        yield Viewed(server, viewer, proxy, screen)


@asynccontextmanager
async def _server(folder: Path, size: tuple[int, int], port: int) -> AsyncIterator[tuple[Process, str]]:
    """The server listens as soon as it has written the number of its display."""
    words = [*_SERVER, "-geometry", f"{size[0]}x{size[1]}", "-rfbport", str(port)]
    async with _process(folder, words, {}, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        number = (await within(server.stdout.readline())).strip().decode()
        assert number.isdigit(), (folder / f"{words[0]}.log").read_text(errors="replace")
        yield server, f":{number}"


@asynccontextmanager
async def _process(
    folder: Path, words: Sequence[str], variables: dict[str, str], stdout: int = subprocess.DEVNULL
) -> AsyncIterator[Process]:
    """A process with a home of its own; it is ended at the end."""
    with open(folder / f"{Path(words[0]).name}.log", "ab") as log:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env={**os.environ, "HOME": str(folder), **variables},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=log,
        )
    try:
        yield process
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    """A server that is killed at once leaves its lock in /tmp."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        with contextlib.suppress(TimeoutError):
            await within(process.wait(), END_TIME)
        process.kill()
    await process.wait()


@asynccontextmanager
async def _screen(folder: Path, size: tuple[int, int]) -> AsyncIterator[VirtualScreen]:
    """A screen that takes input."""
    screen = VirtualScreen(size, folder, os.environ.get("PATH", ""))
    serving = asyncio.create_task(screen.input.serve())
    try:
        yield screen
    finally:
        screen.close()
        await serving
