"""A way to a site that breaks at chosen calls, before or after the command ran there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from broker_core.sites.link import Link
from broker_core.sites.transport.contract import DEADLINE, LinkLost, Reply, Transport
from broker_core.sites.transport.way_back import RelayPlace, WayBack
from tests.waiting import eventually


@dataclass
class Breaking:
    """Which calls break. Counts all calls."""

    at: range = field(default_factory=lambda: range(0))
    """Numbers of the calls that break, from 1."""
    after: bool = False
    """The command ran before the answer was lost."""
    calls: int = 0
    down: bool = False
    """Every call breaks before it reaches the site; the answers to those under way are lost."""
    deaf: bool = False
    """Every command runs and no answer comes back."""
    hung: bool = False
    """No call ends while this is so, at its deadline neither."""


class FailingTransport:
    """See `Transport`; passes everything on but what breaks."""

    def __init__(self, real: Transport, breaking: Breaking) -> None:
        self._real, self._breaking = real, breaking
        self.link: Link = real.link

    async def run(self, script: str, *, stdin: bytes = b"", deadline: float = DEADLINE) -> Reply:
        return await self._carry(lambda: self._real.run(script, stdin=stdin, deadline=deadline))

    async def send(self, script: str, chunks: AsyncIterator[bytes], *, deadline: float = DEADLINE) -> Reply:
        return await self._carry(lambda: self._real.send(script, chunks, deadline=deadline))

    async def receive(
        self, script: str, write: Callable[[bytes], None], *, deadline: float = DEADLINE
    ) -> Reply:
        return await self._carry(lambda: self._real.receive(script, write, deadline=deadline))

    async def way_back(self, relay: RelayPlace, ports: Sequence[int], *, wide: bool) -> WayBack:
        return await self._real.way_back(relay, ports, wide=wide)

    async def open(self) -> None:
        await self._real.open()

    async def close(self) -> None:
        await self._real.close()

    def answer(self, id: str, value: str) -> None:
        self._real.answer(id, value)

    def connect_now(self) -> None:
        self._real.connect_now()

    def hurry(self) -> None:
        self._real.hurry()

    async def _carry(self, call: Callable[[], Awaitable[Reply]]) -> Reply:
        what = self._breaking
        what.calls += 1
        broken = what.calls in what.at
        if what.hung:
            await eventually(lambda: not what.hung)
            raise LinkLost("The way hung.")
        if what.down or (broken and not what.after):
            raise LinkLost("The way was cut before.")
        reply = await call()
        if what.deaf or what.down or broken:
            raise LinkLost("The way was cut after.")
        return reply
