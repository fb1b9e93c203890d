"""The way to a site on this machine: its commands are processes of the broker's own account."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from broker_core.errors import NotFound
from broker_core.sites.link import Link, LinkEvent
from broker_core.sites.transport.contract import LinkLost, NotSent, Reply
from broker_core.sites.transport.local_process import LocalProcess
from broker_core.sites.transport.script_io import ScriptIO
from broker_core.sites.transport.scripts import Scripts
from broker_core.sites.transport.shell_wrapper import WrappedScript
from broker_core.sites.transport.way_back import RelayPlace, WayBack, plain_way


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
    try:
        process = LocalProcess(parcel.command, traffic)
    except OSError as error:
        raise NotSent(f"No process can be started: {error.strerror}.") from error
    try:
        reply = await traffic.carry(process.input, parcel.head, chunks)
    finally:
        try:
            if traffic.status is None:
                await process.end()
        finally:
            process.close()  # who waits for the end may be cancelled once more
    assert reply is not None, "a process always ends with a status"
    return reply
