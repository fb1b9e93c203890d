"""The agent's way out: it calls every place where a desk may be, and a desk that asks for it (CB-IA-02)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from socket import socket

import asyncssh

from broker_core.interactive.channel.frames import BadFrame, FrameReader, read_word, word
from broker_core.interactive.channel.rendezvous import AGENT, Endpoint, NoRendezvous, NotReached, meet

log = logging.getLogger("crossdesk.agent")
SHORTEST = 0.1
"""Seconds before the first new attempt; twice as long before each further one, up to the interval set."""
LOST = 5.0
"""Seconds without reaching any place after which that is told."""
AT_ONCE = 32
"""Connections that may be open; more would only come from somebody who plays with us."""
DIAL_TIME = 3.0
"""Seconds for a call; the desk may have given up before."""


class Reach:
    """Whether any place is reached; tells when none was for a while, and when one is again."""

    def __init__(self, places: int, tell: Callable[[str], None]) -> None:
        """`tell`: why none is reached; empty: one is."""
        self._places = places
        self._tell = tell
        self._failing: dict[Endpoint, str] = {}
        self._soon: asyncio.TimerHandle | None = None
        self._told = False

    def reached(self, place: Endpoint) -> None:
        """A place answers."""
        self._failing.clear()
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        if self._told:
            self._told = False
            self._tell("")

    def failed(self, place: Endpoint, reason: str) -> None:
        """A place does not."""
        self._failing[place] = reason
        if len(self._failing) == self._places and self._soon is None and not self._told:
            self._soon = asyncio.get_running_loop().call_later(LOST, self._lost)

    def _lost(self) -> None:
        self._soon, self._told = None, True
        self._tell(" ".join(self._failing.values()))


class AgentDialer:
    """Calls one place; every connection on which a desk is met is served while the next one waits."""

    def __init__(
        self,
        place: Endpoint,
        token: str,
        interval: float,
        serve: Callable[[socket], Awaitable[None]],
        reach: Reach,
    ) -> None:
        self._place = place
        self._reach = reach
        self._token = token
        self._interval = interval
        self._serve = serve
        self._served: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Call until cancelled."""
        pause = min(SHORTEST, self._interval)
        while True:
            if len(self._served) >= AT_ONCE:
                await asyncio.wait(self._served, return_when=asyncio.FIRST_COMPLETED)
            try:
                connection = await meet(
                    self._place, AGENT, self._token, None, reached=lambda: self._reach.reached(self._place)
                )
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody else calls this place
                log.info("%s", error)
                if isinstance(error, NotReached) or not isinstance(error, NoRendezvous):
                    self._reach.failed(self._place, str(error) or type(error).__name__)
                await asyncio.sleep(pause)
                pause = min(pause * 2, self._interval)
                continue
            pause = min(SHORTEST, self._interval)
            task = asyncio.ensure_future(self._serve(connection))
            self._served.add(task)
            task.add_done_callback(self._served.discard)


class DirectCall(asyncssh.SSHUNIXSession[bytes]):
    """A desk asks over the relay to be called without it: where it listens now, and the token it expects."""

    def __init__(self, serve: Callable[[socket], Awaitable[None]]) -> None:
        self._serve = serve
        self._reader = FrameReader()
        self._calling: asyncio.Task[None] | None = None

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Wait for the request."""
        self._channel = channel

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Call the desk, once."""
        try:
            for _, content in self._reader.feed(data):
                said = read_word(content)
                place, token = Endpoint(str(said["host"]), int(said["port"])), str(said["token"])
                if self._calling is None:
                    self._calling = asyncio.ensure_future(self._call(place, token))
        except (BadFrame, ValueError, TypeError, KeyError) as error:
            self._refuse(f"the request is not understood: {error}")

    def eof_received(self) -> bool:
        """The answer may still come."""
        return True

    async def _call(self, place: Endpoint, token: str) -> None:
        try:
            connection = await meet(place, AGENT, token, DIAL_TIME, DIAL_TIME)
        except NoRendezvous as error:
            log.info("No direct way: %s", error)
            self._refuse(str(error))
            return
        await self._serve(connection)

    def _refuse(self, reason: str) -> None:
        if not self._channel.is_closing():
            self._channel.write(word("direct", reason=reason))
            self._channel.write_eof()
            self._channel.close()
