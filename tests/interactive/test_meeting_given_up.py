"""A desk that gives a meeting up keeps no connection, whatever it was about to do."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from broker_core.interactive.channel.rendezvous import DESK, GO, Endpoint, NoRendezvous, meet, new_token
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
