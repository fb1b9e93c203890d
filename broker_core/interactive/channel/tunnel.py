"""A stream of bytes both ways that goes on over many connections: what was not confirmed is sent again.

The desk opens a channel for it on each connection and says which tunnel it means and how much of it has
arrived; the agent answers with the same, and both go on from there. Either end tells the end of its bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import (
    HEARD,
    OUTPUT,
    PART,
    STDOUT,
    WORD,
    BadFrame,
    FrameReader,
    heard,
    output,
    read_place,
    read_word,
    word,
)

log = logging.getLogger("crossdesk.sessions")
UNCONFIRMED = 1 << 20
"""Bytes that wait for the other end's confirmation before no more are read."""


class TunnelEnd:
    """One end: carries the bytes of a local stream; each arrives at the other end once, in order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._link: TunnelChannel | None = None
        self._waiting = bytearray()
        """What was read and is not confirmed."""
        self._start = self._sent = 0
        """Places of the first byte that waits, and of the next one to be sent."""
        self.read_all = asyncio.Event()
        """The local stream has ended."""
        self.arrived = 0
        """Bytes that came from the other end."""
        self._confirmed = 0
        self._room, self._due = asyncio.Event(), asyncio.Event()
        self._far_ended = False
        """The other end has told the end of its bytes, all of which are here."""
        self.over = asyncio.Event()
        """Both ways are done, or the local stream broke."""
        self._tasks = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._confirm())]

    @property
    def linked(self) -> bool:
        """Whether a connection carries it now."""
        return self._link is not None

    def attach(self, link: TunnelChannel, had: int) -> None:
        """Go on over a new connection: the other end has `had` bytes of ours. Raises BadFrame."""
        self._take_confirmation(had)
        self._link, self._sent = link, self._start
        self._push()

    def detach(self, link: TunnelChannel) -> None:
        """That connection is no more."""
        if self._link is link:
            self._link = None

    def take(self, kind: bytes, content: bytes) -> None:
        """A frame of the other end; raises BadFrame and KeyError."""
        if kind == OUTPUT:
            _, offset, data = read_place(content)
            self._take_bytes(offset, data)
        elif kind == HEARD:
            self._take_confirmation(read_place(content)[1])
            self._push()
        elif kind == WORD and read_word(content)["what"] == "eof":
            self._take_end(int(read_word(content)["at"]))

    async def close(self) -> None:
        """Carry nothing more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._writer.close()
        self._finish()

    async def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := await self._reader.read(PART):
                self._waiting += data
                self._push()
                while len(self._waiting) >= UNCONFIRMED:
                    self._room.clear()
                    await self._room.wait()
        self.read_all.set()
        self._push()
        self._way_done()

    def _push(self) -> None:
        if self._link is None:
            return
        while (first := self._sent - self._start) < len(self._waiting):
            part = bytes(self._waiting[first : first + PART])
            self._link.send(output(STDOUT, self._sent, part))
            self._sent += len(part)
        if self.read_all.is_set():
            self._link.send(word("eof", at=self._sent))

    def _take_confirmation(self, offset: int) -> None:
        if not offset <= self._start + len(self._waiting):
            raise BadFrame("bytes are confirmed that were never sent")
        if offset > self._start:
            del self._waiting[: offset - self._start]
            self._start = offset
        self._sent = max(self._sent, self._start)
        self._room.set()

    def _take_bytes(self, offset: int, data: bytes) -> None:
        if offset > self.arrived:
            raise BadFrame("bytes are missing")
        fresh = data[self.arrived - offset :]
        self.arrived += len(fresh)
        if fresh and not self._writer.is_closing():
            self._writer.write(fresh)
        self._due.set()

    def _take_end(self, offset: int) -> None:
        if offset != self.arrived:
            raise BadFrame("bytes are missing before the end")
        if not self._far_ended:  # it is said again with whatever is sent behind it
            self._far_ended = True
            self._writer.close()  # nothing happens where the local client has gone already
            self._way_done()

    async def _confirm(self) -> None:
        """Confirm what the local stream took."""
        while True:
            await self._due.wait()
            self._due.clear()
            with contextlib.suppress(OSError):
                await self._writer.drain()
            if self._link is not None and self.arrived > self._confirmed:
                self._confirmed = self.arrived
                self._link.send(heard(STDOUT, self.arrived))

    def _way_done(self) -> None:
        if self._far_ended and self.read_all.is_set():
            self._finish()

    def _finish(self) -> None:
        self.over.set()
        self._room.set()


class TunnelChannel(asyncssh.SSHUNIXSession[bytes]):
    """Carries the frames of one tunnel on one connection."""

    def __init__(self, met: Callable[[TunnelChannel, dict[str, Any]], None]) -> None:
        """`met` takes the first word of the other end, and says by `belong` which tunnel it is; it may raise
        BadFrame, KeyError or ValueError."""
        self._met = met
        self._end: TunnelEnd | None = None
        self._reader = FrameReader()
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the channel is gone."""

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Wait for the other end's first word."""
        self._channel = channel

    def connection_lost(self, error: Exception | None) -> None:
        """The connection broke, or the other end closed the channel."""
        if self._end is not None:
            self._end.detach(self)
        if not self.lost.done():
            self.lost.set_result(None)

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Frames of the other end; the channel is closed after one that is none."""
        try:
            for kind, content in self._reader.feed(data):
                if self._end is not None:
                    self._end.take(kind, content)
                else:
                    self._met(self, read_word(content))
        except (BadFrame, ValueError, TypeError, KeyError) as error:
            log.warning("A tunnel is not understood: %s", error)
            self._channel.abort()

    def eof_received(self) -> bool:
        """The other end leaves."""
        return False

    def belong(self, end: TunnelEnd, had: int) -> None:
        """All further frames are for this end; the other one has `had` bytes of it. Raises BadFrame."""
        self._end = end
        end.attach(self, had)

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        if not self._channel.is_closing():
            self._channel.write(frame)

    def close(self) -> None:
        """End the channel, behind what was sent."""
        self._channel.close()
