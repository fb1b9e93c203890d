"""Input on its way to the broker that carries it: in pieces that it takes, in order, and as few as can be."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from broker_core.broker.api.routes.lines import MOST_INPUT
from broker_core.client.client import BrokerClient
from broker_core.client.line_link import LineLink
from tests.waiting import eventually


class Broker:
    """Stands for a client whose broker has no output, and takes input when it may."""

    def __init__(self) -> None:
        self.took: list[tuple[int, bytes]] = []
        self.may = asyncio.Event()

    async def look_at_lines(self, *asked: Any, **more: Any) -> bytes:
        await asyncio.Event().wait()
        return b""

    async def type_lines(self, job: str, desk: str, offset: int, data: bytes) -> None:
        await self.may.wait()
        self.took.append((offset, data))

    async def line_wish(self, job: str, desk: str, what: str, **values: Any) -> None:
        self.took.append((-1, what.encode()))


async def test_input_waits_together_and_goes_in_pieces_of_the_size_that_is_taken() -> None:
    broker = Broker()
    link = LineLink(cast(BrokerClient, broker), "job", "node", cast(Any, None))
    link.say("hello", desk="desk", write=True, resume={})
    text = bytes(range(256)) * (MOST_INPUT // 64)
    for start, end in ((0, 10), (10, 20), (20, len(text))):
        link.type(start, text[start:end])
    link.say("eof")
    broker.may.set()
    await eventually(lambda: (-1, b"eof") in broker.took)
    assert broker.took[-1] == (-1, b"eof")
    pieces = broker.took[:-1]
    assert max(len(data) for _, data in pieces) <= MOST_INPUT
    assert b"".join(data for _, data in pieces) == text
    assert [place for place, _ in pieces] == [sum(len(d) for _, d in pieces[:n]) for n in range(len(pieces))]
    assert pieces[0][1].startswith(text[:20]), "what waited went together"
    await link.close()
