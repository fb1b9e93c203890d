"""A desk that gives a meeting up keeps no connection, whatever it was about to do."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, cast

import asyncssh
import pytest

from broker_core.interactive.channel.rendezvous import DESK, GO, Endpoint, NoRendezvous, meet, new_token
from broker_core.interactive.shadow.connecting import AgentConnector
from tests.waiting import within


@pytest.mark.parametrize("steps", range(1, 40))
async def test_a_meeting_that_is_canceled_leaves_no_connection(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[socket.socket] = []

    class Counted(socket.socket):
        def __init__(self, *words: Any) -> None:
            super().__init__(*words)
            made.append(self)

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(GO)
        await reader.read()
        writer.close()

    async with await asyncio.start_server(accepted, "127.0.0.1", 0) as server:
        place = Endpoint(*server.sockets[0].getsockname())
        monkeypatch.setattr("broker_core.interactive.channel.rendezvous.socket.socket", Counted)
        meeting = asyncio.ensure_future(meet(place, DESK, new_token(), None))
        for _ in range(steps):
            await asyncio.sleep(0)
        meeting.cancel()
        try:
            (await within(meeting)).close()
        except (asyncio.CancelledError, NoRendezvous):
            pass
        monkeypatch.undo()
    assert [one for one in made if one.fileno() != -1] == []


async def test_who_gives_up_twice_leaves_no_attempt_that_takes_its_time_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a session does that is closed on a busy machine."""
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(self: AgentConnector, contact: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await may_end.wait()
            ended.set()

    async def never(attempt: int) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(AgentConnector, "connect", slow)
    made = AgentConnector(asyncssh.generate_private_key("ssh-ed25519"), 1.0, 1.0, None, None)
    session = asyncio.ensure_future(made.unless_over(cast(Any, None), cast(Any, never), asyncio.Event()))
    await begun.wait()
    try:
        for _ in range(3):
            session.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert not session.done()
    finally:
        may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await within(session)
    assert ended.is_set()
