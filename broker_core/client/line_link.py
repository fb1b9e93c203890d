"""A desk's way to a program whose lines the broker carries: asked for again and again, over its socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from broker_core.client.commands.sessions import SessionCommands
from broker_core.errors import CrossDeskError, VersionsDiffer
from broker_core.interactive.channel.frames import BadFrame, FrameReader
from broker_core.interactive.channel.stream_link import StreamListener, deliver

LOOK = 10.0
"""Seconds that the broker may keep a question before it answers that nothing is new."""
FAREWELL = 1.5
"""Seconds that the last lines get on their way to the broker."""
PART = 256 * 1024
"""Bytes of input in one request, at most."""
_WISHES = frozenset({"take", "eof", "signal"})
"""What is passed on; a program without a terminal has no size."""


@dataclass
class _Piece:
    """Input on its way."""

    offset: int
    data: bytearray

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


class LineLink:
    """Looks like a connection with an agent; lost as soon as the broker or the site cannot be asked."""

    def __init__(self, client: SessionCommands, job: str, node: str, listener: StreamListener) -> None:
        self._client, self._job, self._node = client, job, node
        self._listener = listener
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.met = False
        """The broker has answered."""
        self._desk, self._write = "", False
        self._places: dict[int, int] = {}
        self._wanted = asyncio.Event()
        self._wanted.set()
        self._out: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._open: _Piece | None = None
        """The last input that waits, with nothing behind it."""
        self._tasks: list[asyncio.Task[None]] = []

    def say(self, what: str, **values: Any) -> None:
        """Begin with `hello`; then wishes, in their order with what is typed."""
        if what == "hello":
            self._desk, self._write = str(values["desk"]), bool(values["write"])
            self._places = dict(values["resume"])
            self._tasks = [asyncio.ensure_future(self._guarded(work)) for work in (self._look, self._send)]
        elif what in _WISHES:
            self._open = None
            self._out.put_nowait(lambda: self._client.line_wish(self._job, self._desk, what, **values))

    def type(self, offset: int, data: bytes) -> None:
        """Send input; what waits already goes together with it, because each question takes its time."""
        for start in range(0, len(data), PART):
            self._append(offset + start, data[start : start + PART])

    def _append(self, offset: int, data: bytes) -> None:
        piece = self._open
        if piece is not None and piece.end == offset and len(piece.data) + len(data) <= PART:
            piece.data += data
            return
        piece = self._open = _Piece(offset, bytearray(data))
        self._out.put_nowait(lambda: self._type(piece))

    async def _type(self, piece: _Piece) -> None:
        if self._open is piece:
            self._open = None
        await self._client.type_lines(self._job, self._desk, piece.offset, bytes(piece.data))

    def arrived(self, stream: int, offset: int, size: int) -> None:
        """Output below `offset` is here."""
        self._places[stream] = offset

    def confirm(self) -> None:
        """Each question says what is here already."""

    def listen(self, wanted: bool) -> None:
        """Take output, or let it wait at the site."""
        if wanted:
            self._wanted.set()
        else:
            self._wanted.clear()

    async def close(self) -> None:
        """Leave; what was typed before still goes out, if the broker takes it soon."""
        stands = self.met and (self.lost.cancelled() or not self.lost.done())
        if stands:
            sent = asyncio.ensure_future(self._out.join())
            await asyncio.wait([sent, *self._tasks], timeout=FAREWELL, return_when=asyncio.FIRST_COMPLETED)
            sent.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if stands:
            # The client may be closed already; the broker finds out in time that the desk has gone.
            with contextlib.suppress(CrossDeskError, RuntimeError):
                await self._client.line_wish(self._job, self._desk, "bye")

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """Whatever goes wrong, the session hears of it."""
        try:
            await work()
        except VersionsDiffer as error:
            if not self.lost.done():
                self.lost.set_exception(error)
        except (CrossDeskError, BadFrame) as error:
            self._lose(str(error))
        except Exception as error:
            self._lose(f"something unforeseen happened: {error!r}")
            raise

    def _lose(self, reason: str) -> None:
        if not self.lost.done():
            self.lost.set_result(reason.rstrip("."))

    async def _look(self) -> None:
        while True:
            await self._wanted.wait()
            raw = await self._client.look_at_lines(
                self._job,
                self._desk,
                self._places,
                write=self._write,
                begin=not self.met,
                wait=LOOK if self.met else 0.0,
            )
            self.met = True
            for kind, content in FrameReader().feed(raw):
                deliver(kind, content, self._listener, self._word)

    async def _send(self) -> None:
        while True:
            await (await self._out.get())()
            self._out.task_done()

    def _word(self, said: dict[str, Any]) -> None:
        if said["what"] == "welcome":
            said["node"] = self._node
            for stream, (start, _) in said["streams"].items():
                self._places.setdefault(int(stream), start)
        self._listener.word(said)
