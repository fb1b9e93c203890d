"""The agent calls a desk itself, because the desk asked for it over the relay (CB-IA-02)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from socket import socket

import asyncssh

from broker_core.interactive.channel.frames import BadFrame, FrameReader, read_word, word
from broker_core.interactive.channel.rendezvous import AGENT, Endpoint, NoRendezvous, meet

log = logging.getLogger("crossdesk.agent")
DIAL_TIME = 3.0
"""Seconds for a call; the desk may have given up before."""


class DirectCall(asyncssh.SSHUNIXSession[bytes]):
    """One request: where the desk listens now, and the token that it expects there."""

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
