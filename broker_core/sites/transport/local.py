"""The way to a site on this machine: its commands are processes of the broker's own account."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import cast

from broker_core.errors import NotFound
from broker_core.sites.link import Link, LinkEvent
from broker_core.sites.transport.contract import LinkLost, NotSent, Reply
from broker_core.sites.transport.script_io import ScriptIO
from broker_core.sites.transport.scripts import Scripts
from broker_core.sites.transport.shell_wrapper import WrappedScript
from broker_core.sites.transport.way_back import RelayPlace, WayBack, plain_way
from broker_core.system.process_start import start_whole

_REAPED = 5.0
"""Seconds that a killed process may take to be gone; one that hangs in the kernel is left."""


class LocalTransport(Scripts):
    """Runs scripts by /bin/sh in process groups of their own; it is connected while it is open."""

    def __init__(self, link: Link, environment: Mapping[str, str], at_once: int) -> None:
        """`environment`: added to the broker's own. `at_once`: most scripts at the same time."""
        super().__init__(link, environment)
        self._turns = asyncio.Semaphore(at_once)

    async def way_back(self, relay: RelayPlace, ports: Sequence[int], *, wide: bool) -> WayBack:
        """Nodes are this machine, or on its network."""
        return await plain_way(relay, "")

    async def open(self) -> None:
        """This machine is always there."""
        self.link.transition(LinkEvent.ANSWERED)

    async def close(self) -> None:
        """Nothing to give up; scripts under way end with their callers."""

    def answer(self, id: str, value: str) -> None:
        """This machine asks nothing."""
        raise NotFound("This site asks no question.", place=id)

    def connect_now(self) -> None:
        """This machine is always there."""

    def hurry(self) -> None:
        """This machine is always there."""

    async def _bring(self, parcel: WrappedScript, chunks: AsyncIterator[bytes], traffic: ScriptIO) -> Reply:
        async with self._turns:
            traffic.sent = True
            return await _run(traffic, parcel, chunks)

    def _too_late(self, traffic: ScriptIO, deadline: float) -> LinkLost:
        if not traffic.sent:
            return NotSent(f"{deadline:g} s were over before the command's turn came.")
        return LinkLost(f"The command did not end within {deadline:g} s and was ended.")


async def _run(traffic: ScriptIO, parcel: WrappedScript, chunks: AsyncIterator[bytes]) -> Reply:
    loop = asyncio.get_running_loop()
    try:
        (transport, process), canceled = await start_whole(
            loop.subprocess_exec(
                lambda: _Process(traffic), "/bin/sh", "-c", parcel.command, start_new_session=True
            )
        )
    except OSError as error:
        raise NotSent(f"No process can be started: {error.strerror}.") from error
    pipe = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
    try:
        if canceled is not None:
            raise canceled
        reply = await traffic.carry(pipe, parcel.head, chunks)
    finally:
        try:
            if traffic.status is None:
                _kill_group(transport.get_pid())
                # Closing would take the exit status away from the one who waits for it.
                await asyncio.wait((process.exited,), timeout=_REAPED)
        finally:
            transport.close()  # who waits for that may be cancelled once more
    assert reply is not None, "a process always ends with a status"
    return reply


def _kill_group(pid: int) -> None:
    # The shell is the leader of a session of its own, so its group has its number.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class _Process(asyncio.SubprocessProtocol):
    """Passes on what the event loop tells of a process."""

    def __init__(self, traffic: ScriptIO) -> None:
        self._traffic = traffic
        self._transport: asyncio.SubprocessTransport | None = None
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._traffic.received(data, is_error=fd == 2)

    def pause_writing(self) -> None:
        self._traffic.pause_writing()

    def resume_writing(self) -> None:
        self._traffic.resume_writing()

    def process_exited(self) -> None:
        assert self._transport is not None
        self.exited.set_result(None)
        code = self._transport.get_returncode()
        self._traffic.exited(code if code is not None and code >= 0 else 128 - (code or 0))

    def connection_lost(self, exc: Exception | None) -> None:
        self._traffic.finished()
