"""The end of a tunnel whose client has gone already, as SSH clients do that end with their command."""

from __future__ import annotations

import asyncio
import os
import socket

from broker_core.interactive.channel.frames import WORD, word
from broker_core.interactive.channel.tunnel import TunnelEnd
from tests.waiting import eventually


async def test_a_tunnel_is_over_when_both_ends_are_told_though_the_client_has_gone() -> None:
    loop = asyncio.get_running_loop()
    (from_client, to_us), (from_us, to_client) = os.pipe(), os.pipe()
    reader = asyncio.StreamReader()
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_client, "rb", 0)
    )
    writing, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(to_client, "wb", 0)
    )
    end = TunnelEnd(reader, asyncio.StreamWriter(writing, protocol, None, loop))
    os.close(to_us)
    os.close(from_us)
    await eventually(writing.is_closing, what="our writer hears that the client has gone")
    await eventually(end.read_all.is_set, what="its last byte was read")
    assert not end.over.is_set()
    told = word("eof", at=0)
    for _ in range(2):
        end.take(WORD, told[told.index(b"{") :])
    assert end.over.is_set()
    await end.close()
    reading.close()


async def test_an_end_that_is_told_twice_is_one_way_only() -> None:
    near, far = await _connected()
    end = TunnelEnd(*near)
    told = word("eof", at=0)
    for _ in range(2):
        end.take(WORD, told[told.index(b"{") :])
    assert not end.over.is_set()
    far[1].close()
    await eventually(end.over.is_set, what="both ways are done")
    await end.close()


async def _connected() -> tuple[tuple[asyncio.StreamReader, asyncio.StreamWriter], ...]:
    return tuple([await asyncio.open_connection(sock=one) for one in socket.socketpair()])
