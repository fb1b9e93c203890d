"""What programs notice of a cut that talk over a forward: their connections are reset, and new ones wait."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.echo import Echo, said
from tests.interactive.pair import Bench
from tests.interactive.terminals import SHELL, ready
from tests.interactive.wire import Wire
from tests.waiting import LONG, eventually, within


@pytest.mark.parametrize("by", ["port", "socks"])
async def test_a_connection_that_only_listens_is_reset_by_a_cut_and_another_one_works(
    made: Bench, by: str
) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL)
    session = (await ready(made)).session
    async with Echo() as echo:
        if by == "port":
            forward = await session.forwards.local(("127.0.0.1", 0), ("127.0.0.1", echo.port))
        else:
            forward = await session.forwards.dynamic(("127.0.0.1", 0))
        host, _, port = forward.listen.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        if by == "socks":
            writer.write(b"\5\1\0\5\1\0\1\x7f\0\0\1" + echo.port.to_bytes(2, "big"))
            assert (await reader.readexactly(12))[3] == 0
        writer.write(b"talk")
        assert await reader.readexactly(4) == b"TALK"
        assert wire.cut() > 0
        with pytest.raises(ConnectionResetError):
            await within(reader.read(), LONG)
        writer.close()
        await eventually(lambda: forward.connections == 0, what="the forward holds no connection")
        await eventually(lambda: session.status.state is SessionState.CONNECTED)
        await session.connection()
        if by == "port":
            assert await said(host, int(port), b"again") == b"AGAIN"
    await wire.close()


async def test_a_program_that_connects_amid_a_cut_is_answered_when_it_is_over(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL)
    session = (await ready(made)).session
    async with Echo() as echo:
        forward = await session.forwards.local(("127.0.0.1", 0), ("127.0.0.1", echo.port))
        host, _, port = forward.listen.rpartition(":")
        wire.up = False
        assert wire.cut() > 0
        await eventually(lambda: session.status.state is not SessionState.CONNECTED)
        saying = [asyncio.ensure_future(said(host, int(port), b"again")) for _ in range(3)]
        await eventually(lambda: "wait" in forward.problem, what="the forward says that programs wait")
        assert not any(one.done() for one in saying)
        wire.up = True
        assert await within(asyncio.gather(*saying), LONG) == [b"AGAIN"] * 3
        assert forward.problem == ""
    await wire.close()


async def test_a_program_that_waits_amid_a_cut_is_let_go_with_the_forward(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL)
    session = (await ready(made)).session
    forward = await session.forwards.local(("127.0.0.1", 0), ("127.0.0.1", 1))
    host, _, port = forward.listen.rpartition(":")
    wire.up = False
    assert wire.cut() > 0
    await eventually(lambda: session.status.state is not SessionState.CONNECTED)
    reader, writer = await asyncio.open_connection(host, int(port))
    await eventually(lambda: "wait" in forward.problem, what="the forward says that programs wait")
    await session.forwards.remove(forward)
    assert await within(reader.read(), LONG) == b""
    writer.close()
    await wire.close()


async def test_a_connection_that_the_node_made_is_reset_here_by_a_cut(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL)
    session = (await ready(made)).session
    ends: list[asyncio.Future[bytes]] = []
    closed = asyncio.Event()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends.append(asyncio.ensure_future(reader.read()))
        await asyncio.wait(ends)
        writer.transport.abort()
        closed.set()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    forward = await session.forwards.remote(("localhost", 0), server.sockets[0].getsockname()[:2])
    host, _, port = forward.listen.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    await eventually(lambda: ends, what="it is connected")
    assert wire.cut() > 0
    with pytest.raises(ConnectionResetError):
        await within(ends[0], LONG)
    await within(closed.wait(), LONG)
    writer.transport.abort()
    await eventually(lambda: session.status.state is SessionState.CONNECTED)
    await session.connection()
    server.close()
    await wire.close()


async def test_what_a_server_says_before_it_closes_arrives_and_nothing_is_reset(made: Bench) -> None:
    await made.start_agent(SHELL)
    session = (await ready(made)).session

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x" * (1 << 20))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    forward = await session.forwards.local(("127.0.0.1", 0), server.sockets[0].getsockname()[:2])
    host, _, port = forward.listen.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    assert len(await within(reader.read(), LONG)) == 1 << 20
    writer.close()
    await eventually(lambda: forward.connections == 0, what="the forward holds no connection")
    server.close()
