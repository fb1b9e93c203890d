"""The way to a site on this machine: its commands are processes of the broker's own account."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import cast

from broker_core.errors import NotFound
from broker_core.sites.link import Link, LinkState
from broker_core.sites.transport.contract import DEADLINE, LinkLost, NotSent, Reply
from broker_core.sites.transport.envelope import Parcel, wrap
from broker_core.sites.transport.exchange import Exchange
from broker_core.sites.transport.traffic import Traffic, in_one_piece
from broker_core.sites.transport.way_back import RelayPlace, WayBack, plain_way

_REAPED = 5.0
"""Seconds that a killed process may take to be gone; one that hangs in the kernel is left."""


class LocalTransport:
    """Runs scripts by /bin/sh in process groups of their own; it is connected while it is open."""

    def __init__(self, link: Link, environment: Mapping[str, str], at_once: int) -> None:
        """`environment`: added to the broker's own. `at_once`: most scripts at the same time."""
        self.link = link
        self._environment = dict(environment)
        self._turns = asyncio.Semaphore(at_once)

    async def run(self, script: str, *, stdin: bytes = b"", deadline: float = DEADLINE) -> Reply:
        """Run a script."""
        return await self._carry(script, in_one_piece(stdin), None, deadline, renewed=False)

    async def send(self, script: str, chunks: AsyncIterator[bytes], *, deadline: float = DEADLINE) -> Reply:
        """Run a script with a long input."""
        return await self._carry(script, chunks, None, deadline, renewed=True)

    async def receive(
        self, script: str, write: Callable[[bytes], None], *, deadline: float = DEADLINE
    ) -> Reply:
        """Run a script with a long output."""
        return await self._carry(script, in_one_piece(b""), write, deadline, renewed=True)

    async def way_back(self, relay: RelayPlace, ports: Sequence[int], *, wide: bool) -> WayBack:
        """Nodes are this machine, or on its network."""
        return await plain_way(relay, "")

    async def open(self) -> None:
        """This machine is always there."""
        self.link.become(LinkState.CONNECTED, time.time())

    async def close(self) -> None:
        """Nothing to give up; scripts under way end with their callers."""

    def answer(self, id: str, value: str) -> None:
        """This machine asks nothing."""
        raise NotFound("This site asks no question.", place=id)

    def connect_now(self) -> None:
        """This machine is always there."""

    def hurry(self) -> None:
        """This machine is always there."""

    async def _carry(
        self,
        script: str,
        chunks: AsyncIterator[bytes],
        write: Callable[[bytes], None] | None,
        deadline: float,
        *,
        renewed: bool,
    ) -> Reply:
        parcel = wrap(script, self._environment, secrets.token_hex(8))
        traffic = Traffic(Exchange(parcel.marker, write), deadline, renewed=renewed)
        try:
            async with traffic.limit, self._turns:
                traffic.sent = True
                reply = await _run(traffic, parcel, chunks)
        except TimeoutError as error:
            if not traffic.sent:
                raise NotSent(f"{deadline:g} s were over before the command's turn came.") from error
            raise LinkLost(f"The command did not end within {deadline:g} s and was ended.") from error
        self.link.heard = time.time()
        return reply


async def _run(traffic: Traffic, parcel: Parcel, chunks: AsyncIterator[bytes]) -> Reply:
    loop = asyncio.get_running_loop()
    try:
        transport, process = await loop.subprocess_exec(
            lambda: _Process(traffic), "/bin/sh", "-c", parcel.command, start_new_session=True
        )
    except OSError as error:
        raise NotSent(f"No process can be started: {error.strerror}.") from error
    pipe = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
    try:
        reply = await traffic.carry(pipe, parcel.head, chunks)
    finally:
        if traffic.status is None:
            _kill_group(transport.get_pid())
            # Closing would take the exit status away from the one who waits for it.
            await asyncio.wait((process.exited,), timeout=_REAPED)
        transport.close()
    assert reply is not None, "a process always ends with a status"
    return reply


def _kill_group(pid: int) -> None:
    # The shell is the leader of a session of its own, so its group has its number.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class _Process(asyncio.SubprocessProtocol):
    """Passes on what the event loop tells of a process."""

    def __init__(self, traffic: Traffic) -> None:
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
