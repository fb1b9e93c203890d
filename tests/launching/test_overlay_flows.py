"""Connections that a hub passes on between components, some of which are hostile."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.launching.overlay_hub import OverlayHub, new_secret, overlay_address
from broker_core.worker.scripts.overlay_link import (
    BROKEN,
    CREDIT,
    DATA,
    END,
    HEAD,
    MOST_WINDOW,
    NUMBER,
    OPEN,
    OPENED,
    OPENING,
    REASON,
    RESET,
    STREAM,
    STREAM_HEAD,
    UNREACHABLE,
    call,
    stream_frame,
)
from tests.launching.carrying import hub_of

ONE, TWO, NOBODY = (socket.inet_aton(overlay_address(index)) for index in (0, 1, 2))
_ROOM = 1000


class End:
    """The connection of a carrier, without one."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.settimeout(20)
        self._stream = connection.makefile("rb", buffering=0)

    async def say(self, *frames: bytes) -> None:
        await asyncio.to_thread(self.connection.sendall, b"".join(frames))

    async def hear(self) -> bytes:
        """The content of the next frame about a connection; empty at the end."""
        return await asyncio.to_thread(self._next)

    def _next(self) -> bytes:
        while head := self._exactly(HEAD.size):
            kind, size = HEAD.unpack(head)
            content = self._exactly(size)
            if kind == STREAM:
                return content
        return b""

    def _exactly(self, size: int) -> bytes:
        found = b""
        try:
            while len(found) < size and (part := self._stream.read(size - len(found))):
                found += part
        except ConnectionResetError:
            return b""
        return found

    def close(self) -> None:
        self._stream.close()
        self.connection.close()


@asynccontextmanager
async def two() -> AsyncIterator[tuple[OverlayHub, End, End]]:
    """Both ends, and one open connection between them: number 7, with room for 1000 bytes each way."""
    secrets = [new_secret(), new_secret()]
    async with hub_of(*secrets) as (hub, port):
        one, other = [End(await asyncio.to_thread(call, "127.0.0.1", port, each)) for each in secrets]
        await one.say(stream_frame(OPEN, TWO, True, 7, OPENING.pack(1, 2, _ROOM)))
        assert await other.hear() == STREAM_HEAD.pack(OPEN, ONE, True, 7) + OPENING.pack(1, 2, _ROOM)
        await other.say(stream_frame(OPENED, ONE, False, 7, NUMBER.pack(_ROOM)))
        assert await one.hear() == STREAM_HEAD.pack(OPENED, TWO, False, 7) + NUMBER.pack(_ROOM)
        yield hub, one, other
        one.close()
        other.close()


async def test_bytes_pass_as_far_as_there_is_room_and_both_ends_end_it() -> None:
    async with two() as (hub, one, other):
        await one.say(stream_frame(DATA, TWO, True, 7, bytes(_ROOM)))
        assert await other.hear() == STREAM_HEAD.pack(DATA, ONE, True, 7) + bytes(_ROOM)
        await other.say(stream_frame(CREDIT, ONE, False, 7, NUMBER.pack(5)))
        assert (await one.hear())[0] == CREDIT
        await one.say(stream_frame(DATA, TWO, True, 7, b"12345"), stream_frame(END, TWO, True, 7))
        assert [(await other.hear())[0] for _ in range(2)] == [DATA, END]
        assert hub.traffic() == [(1005, 0), (0, 1005)]
        await other.say(stream_frame(DATA, ONE, False, 7, b"late"), stream_frame(END, ONE, False, 7))
        assert [(await one.hear())[0] for _ in range(2)] == [DATA, END]
        assert len(hub.flows) == 0


@pytest.mark.parametrize(
    "hostile",
    [
        stream_frame(DATA, TWO, True, 7, bytes(_ROOM + 1)),
        stream_frame(DATA, TWO, True, 7, b""),
        stream_frame(END, TWO, True, 7) + stream_frame(DATA, TWO, True, 7, b"x"),
        stream_frame(END, TWO, True, 7) * 2,
        stream_frame(CREDIT, TWO, True, 7, NUMBER.pack(0)),
        stream_frame(CREDIT, TWO, True, 7, NUMBER.pack(MOST_WINDOW)),
        stream_frame(CREDIT, TWO, True, 7, b"123"),
        stream_frame(OPENED, TWO, True, 7, NUMBER.pack(5)),
        stream_frame(OPEN, TWO, True, 7, OPENING.pack(1, 2, 5)),
        stream_frame(OPEN, TWO, False, 8, OPENING.pack(1, 2, 5)),
        stream_frame(OPEN, TWO, True, 8, OPENING.pack(1, 2, 0)),
        stream_frame(OPEN, TWO, True, 8, OPENING.pack(1, 2, MOST_WINDOW + 1)),
        stream_frame(OPEN, TWO, True, 8, OPENING.pack(1, 2, 5)) + stream_frame(DATA, TWO, True, 8, b"x"),
        stream_frame(9, TWO, True, 7),
        HEAD.pack(STREAM, 3) + b"abc",
        HEAD.pack(STREAM, STREAM_HEAD.size) + STREAM_HEAD.pack(END, TWO, 2, 7),
    ],
    ids=[
        *("more than there is room for", "no bytes", "bytes behind the end", "two ends", "no credit"),
        *("too much credit", "cut", "opened twice", "a number that is taken", "opened in another's name"),
        *("no room", "too much room", "bytes before it is open", "of no kind", "no head", "neither end"),
    ],
)
async def test_who_says_what_none_may_is_sent_away_and_the_other_learns_the_end(hostile: bytes) -> None:
    async with two() as (hub, one, other):
        await one.say(hostile)
        assert await one.hear() == b""
        heard = []
        while (content := await other.hear())[0] != RESET or content[5:] != _broken(7):
            heard.append(content)
        assert all(content[1:5] == ONE for content in heard)
        assert hub.members[0].caller is None
        assert hub.members[1].caller is not None
        assert len(hub.flows) == 0


def _broken(number: int) -> bytes:
    return STREAM_HEAD.pack(RESET, ONE, True, number)[5:] + REASON.pack(BROKEN)


@pytest.mark.parametrize("to", [NOBODY, ONE, socket.inet_aton("127.0.0.1")], ids=["nobody", "itself", "hub"])
async def test_who_is_no_other_component_cannot_be_called(to: bytes) -> None:
    async with two() as (_, one, _other):
        await one.say(stream_frame(OPEN, to, True, 8, OPENING.pack(1, 2, 5)))
        assert await one.hear() == STREAM_HEAD.pack(RESET, to, False, 8) + REASON.pack(UNREACHABLE)


async def test_what_is_said_of_a_connection_that_the_other_has_given_up_is_dropped(tmp_path: Path) -> None:
    async with two() as (hub, one, other):
        await other.say(stream_frame(RESET, ONE, False, 7, REASON.pack(BROKEN)))
        assert (await one.hear())[0] == RESET
        gone = [stream_frame(DATA, TWO, True, 7, b"x"), stream_frame(CREDIT, TWO, True, 7, NUMBER.pack(1))]
        await one.say(*gone, stream_frame(OPEN, TWO, True, 8, OPENING.pack(1, 2, 5)))
        assert await other.hear() == STREAM_HEAD.pack(OPEN, ONE, True, 8) + OPENING.pack(1, 2, 5)
        assert hub.traffic() == [(0, 0), (0, 0)]


async def test_a_component_that_ends_leaves_its_connections_broken(tmp_path: Path) -> None:
    async with two() as (hub, one, other):
        one.close()
        assert await other.hear() == STREAM_HEAD.pack(RESET, ONE, True, 7) + REASON.pack(BROKEN)
        await other.say(stream_frame(OPEN, ONE, True, 1, OPENING.pack(1, 2, 5)))
        assert (await other.hear())[-1] == UNREACHABLE
        assert len(hub.flows) == 0
