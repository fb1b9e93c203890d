"""Forwards that are taken back, and those that were open on a connection which nobody knows to be dead."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import asyncssh
import pytest

from broker_core.interactive.shadow.session import ShadowSession
from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.echo import Echo, said
from tests.interactive.pair import QUICK, Bench
from tests.interactive.terminals import SHELL, ready
from tests.interactive.wire import Wire
from tests.waiting import eventually


async def test_a_port_there_is_closed_with_its_forward(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    async with Echo() as echo:
        forward = await screen.session.forwards.remote(("localhost", 0), ("127.0.0.1", echo.port))
        host, _, port = forward.listen.rpartition(":")
        assert await said(host, int(port), b"open") == b"OPEN"
        await screen.session.forwards.remove(forward)
        with pytest.raises(ConnectionRefusedError):
            await said(host, int(port), b"closed")


async def test_a_socket_there_is_gone_with_its_forward_and_can_be_asked_for_again(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    async with Echo() as echo:
        for _ in range(2):
            forward = await screen.session.forwards.remote("socket", ("127.0.0.1", echo.port))
            assert forward.problem == ""
            assert (made.job / "socket").is_socket()
            await screen.session.forwards.remove(forward)
            await eventually(lambda: not (made.job / "socket").exists())


@pytest.mark.parametrize("listen", ["port", "socket"])
async def test_a_forward_of_the_node_is_open_again_though_the_agent_has_not_seen_the_cut(
    made: Bench, listen: str
) -> None:
    relay, wire = made.place, Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL, keepalive=60.0)
    made.place = relay
    screen = await ready(made)
    async with Echo() as echo:
        where = "socket" if listen == "socket" else ("localhost", 0)
        forward = await screen.session.forwards.remote(where, ("127.0.0.1", echo.port))
        if listen == "port":
            host, _, port = forward.listen.rpartition(":")
            await screen.session.forwards.remove(forward)
            forward = await screen.session.forwards.remote((host, int(port)), ("127.0.0.1", echo.port))
        assert forward.problem == ""
        wire.hold()
        connection = await screen.session.connection()
        connection.abort()
        await eventually(lambda: SessionState.BUFFERING in screen.states)
        await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
        await screen.session.connection()
        await eventually(lambda: not forward.problem)
        if listen == "port":
            assert await said(host, int(port), b"again") == b"AGAIN"
    await wire.close()


async def _connected_anew(session: ShadowSession, first: asyncssh.SSHClientConnection) -> bool:
    return await session.connection() is not first


async def test_a_forward_without_a_console_is_open_again_too(made: Bench) -> None:
    relay, wire = made.place, Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL, keepalive=60.0)
    made.place = relay
    session = made.desk(replace(QUICK, attached=False))
    first = await session.connection()
    async with Echo() as echo:
        forward = await session.forwards.remote(("localhost", 0), ("127.0.0.1", echo.port))
        host, _, port = forward.listen.rpartition(":")
        await session.forwards.remove(forward)
        forward = await session.forwards.remote((host, int(port)), ("127.0.0.1", echo.port))
        assert forward.problem == ""
        wire.hold()
        first.abort()
        await eventually(lambda: _connected_anew(session, first), what="another connection")
        assert forward.problem == ""
        assert await said(host, int(port), b"again") == b"AGAIN"
    await wire.close()


async def test_a_forward_that_is_closed_while_programs_talk_over_it_logs_no_error(
    made: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    async with Echo() as echo:
        forward = await screen.session.forwards.local(("127.0.0.1", 0), ("127.0.0.1", echo.port))
        reader, writer = await asyncio.open_connection("127.0.0.1", int(forward.listen.rpartition(":")[2]))
        writer.write(b"talk")
        assert await reader.readexactly(4) == b"TALK"
        await screen.session.forwards.remove(forward)
        assert await reader.read() == b""
        writer.close()
    assert [one for one in caplog.records if one.levelname == "ERROR"] == []
