"""One connection of a program over a forward: bytes both ways, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from typing import Any

import asyncssh

TURN = 64 * 1024
_AT_ONCE = struct.pack("ii", 1, 0)
"""For SO_LINGER: closing sends a reset."""


async def join(
    near: tuple[Any, Any],
    far: tuple[Any, Any],
    tasks: set[asyncio.Task[None]],
    count: Callable[[int, int], None],
) -> None:
    """Carry bytes both ways until both ends are done, or the far one is gone.

    `near`: reader and writer here; `far`: those of an SSH channel. Where the connection to the agent broke,
    the near end is reset: who only listens would wait for ever, and what was cut off would be taken for
    whole. `tasks` has what carries, for who ends it before; `count` is told of bytes sent and received.
    """
    connection = far[1].get_extra_info("connection")
    there = asyncio.ensure_future(_carry(near[0], far[1], lambda size: count(size, 0)))
    back = asyncio.ensure_future(_carry(far[0], near[1], lambda size: count(0, size)))
    gone = asyncio.ensure_future(far[1].wait_closed())
    gone.add_done_callback(lambda _: there.cancel())
    ways = {there, back}
    tasks |= ways
    try:
        # Not by `gather`: ways that are canceled would cancel who waits for them, and before 3.12 Python's
        # servers log that as an error.
        await asyncio.wait(ways, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        tasks -= ways
        broke = gone.done() and connection is not None and connection.is_closed()
        for one in (*ways, gone):
            one.cancel()
        far[1].close()
        if broke:
            _reset(near[1])
        else:
            near[1].close()
    for way in ways:
        if way.done() and not way.cancelled():
            way.result()


async def _carry(reader: Any, writer: Any, count: Callable[[int], None]) -> None:
    with contextlib.suppress(OSError, asyncssh.Error):
        while data := await reader.read(TURN):
            writer.write(data)
            count(len(data))
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection as one that broke; a UNIX socket has no reset, and is closed."""
    near = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        if near.family != socket.AF_UNIX:
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()
