"""The desk's end of a tunnel: an SSH client of the user's own reaches the node, over as many connections as
it takes."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Any

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.frames import TUNNEL_PATH, BadFrame, word
from broker_core.interactive.channel.tunnel import TunnelChannel, TunnelEnd
from broker_core.interactive.shadow.session import ShadowSession

log = logging.getLogger("crossdesk.sessions")
FAREWELL = 5.0
"""Seconds that the other end gets to hear that the local stream has ended."""
PAUSE = 0.1
"""Seconds before a connection that broke just now is asked for again."""


class NoTunnel(CrossDeskError):
    """The agent does not carry the stream, or not any more."""

    code = "no_tunnel"


class DeskTunnel:
    """Carries one local stream to an SSH server that the agent starts for it."""

    def __init__(self, session: ShadowSession, key: str, trusted: Callable[[str], None]) -> None:
        """`key`: public key that may log in there; `trusted` hears the server's before its first byte."""
        self._session, self._key, self._trusted = session, key, trusted
        self._name = secrets.token_urlsafe(18)
        self._welcome = False
        self._refusal = ""

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry bytes until either end is done; raises NoTunnel and SessionOver."""
        self._end = end = TunnelEnd(reader, writer)
        over = asyncio.ensure_future(end.over.wait())
        leaving = asyncio.ensure_future(self._leave())
        try:
            while not over.done():
                channel = await _first(self._channel(), over)
                if channel is not None:
                    await asyncio.wait([channel.lost, over], return_when=asyncio.FIRST_COMPLETED)
                    channel.close()
                if self._refusal:
                    raise NoTunnel(self._refusal)
        finally:
            over.cancel()
            leaving.cancel()
            await end.close()

    async def _channel(self) -> TunnelChannel:
        """A channel on the present connection, or the next one; raises NoTunnel and SessionOver."""
        while True:
            connection = await self._session.connection()
            try:
                _, channel = await connection.create_unix_connection(
                    lambda: TunnelChannel(self._met), TUNNEL_PATH, encoding=None
                )
            except asyncssh.ChannelOpenError as error:
                if not connection.is_closed():
                    raise NoTunnel(
                        f"The agent of the job takes no SSH clients: {error}.",
                        remedy="It may be of an earlier version: start the job anew.",
                    ) from error
            except (OSError, asyncssh.Error) as error:
                log.info("No tunnel yet: %s", error)
            else:
                assert isinstance(channel, TunnelChannel)
                message = {
                    "id": self._name,
                    "key": self._key,
                    "had": self._end.arrived,
                    "again": self._welcome,
                }
                channel.send(word("tunnel", **message))
                return channel
            await asyncio.sleep(PAUSE)

    def _met(self, channel: TunnelChannel, message: dict[str, Any]) -> None:
        """The agent's answer; raises BadFrame, KeyError and ValueError."""
        if message["what"] == "refused":
            self._refusal = str(message["reason"])
        elif message["what"] == "welcome":
            if not self._welcome:
                self._trusted(str(message["key"]))
            self._welcome = True
            channel.belong(self._end, int(message["had"]))
        else:
            raise BadFrame("the agent answers something else")

    async def _leave(self) -> None:
        """A client that has gone away does not wait for a network that is away too."""
        await self._end.read_all.wait()
        await asyncio.sleep(FAREWELL)
        self._end.over.set()


async def _first(work: Any, over: asyncio.Future[Any]) -> Any:
    """The result of `work`, or None when it is over before."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task, over], return_when=asyncio.FIRST_COMPLETED)
        return await task if task.done() else None
    finally:
        task.cancel()
