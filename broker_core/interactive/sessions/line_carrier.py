"""One program whose lines the broker carries: who looks at it, who writes, and exchanges with its site."""

from __future__ import annotations

import asyncio
import secrets
import time

from broker_core.interactive.sessions.line_journal import LineJournal
from broker_core.jobs.placement import Component
from broker_core.sites.contract import Site
from broker_core.sites.lines import MOST_TYPED, LineAnswer, LineBytes, LineCall

GONE = 15.0
"""Seconds after which a desk that has not asked any more has left."""


class RelayedLines:
    """Desks come and go; what was typed is in the journal, what was written at the site."""

    def __init__(self, attempt: Component, outputs: tuple[str, ...], journal: LineJournal) -> None:
        self.attempt, self.outputs, self.journal = attempt, outputs, journal
        self.typed = self.control = 0
        """Bytes of input and of other wishes that the site has."""
        self.moved = time.monotonic()
        """When something was typed or written last."""
        self.turn = asyncio.Lock()
        """For writing into the journal."""
        self.delivery: asyncio.Task[None] | None = None
        self.told: dict[str, tuple[object, ...]] = {}
        """Desk to the news that it was told last."""
        self._desks = {journal.writer: time.monotonic()} if journal.writer else {}
        """Desk to when it asked last; the one that wrote before a restart of the broker may come back."""
        self._woken = asyncio.Event()

    async def come(self, desk: str, *, write: bool) -> float:
        """A desk asks; it gets the input if it wants it and no other desk that is there has it.

        Returns when that was.
        """
        now = time.monotonic()
        for other in [one for one, asked in self._desks.items() if now - asked > GONE]:
            self.leave(other)
        self._desks[desk] = now
        if write and self.journal.writer not in self._desks:
            await self.give_to(desk)
        return now

    def waits(self, desk: str, ask: float) -> bool:
        """Somebody waits for the answer: the desk has neither left nor asked again since."""
        return self._desks.get(desk) == ask

    def leave(self, desk: str) -> None:
        """A desk does not look any more."""
        self._desks.pop(desk, None)
        self.told.pop(desk, None)
        self.wake()

    async def give_to(self, desk: str) -> None:
        """This desk writes now."""
        async with self.turn:
            await asyncio.to_thread(self.journal.give_to, desk)
        self.wake()

    def news(self, desk: str) -> tuple[bool, int, int]:
        """Whether a desk writes, how many look, and how much of its input is at the site."""
        writes = desk == self.journal.writer
        return writes, len(self._desks), self.journal.arrived(desk, self.typed)

    @property
    def due(self) -> bool:
        """Something waits to be brought to the site."""
        return self.typed < self.journal.size or bool(self.journal.wishes(self.control))

    def wake(self) -> None:
        """Something happened: do not wait for the next exchange."""
        self.moved = time.monotonic()
        self._woken.set()

    async def pause(self, quickest: float, slowest: float, most: float) -> None:
        """Until the next exchange is due: the longer nothing has happened, the longer."""
        still = (time.monotonic() - self.moved) * 0.05
        try:
            async with asyncio.timeout(max(0.0, min(most, slowest, max(quickest, still)))):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()

    async def exchange(self, site: Site, places: tuple[int, ...], most: int) -> LineAnswer:
        """Bring what waits, and get output from `places` on; raises NotFound and LinkLost."""
        journal = self.journal
        call = LineCall(
            typed=LineBytes(self.typed, journal.typed(self.typed, MOST_TYPED)),
            control=LineBytes(self.control, journal.wishes(self.control)),
            outputs=self.outputs,
            places=places,
            most=most,
            sign=secrets.token_hex(6),
        )
        answer = await site.carry_lines(self.attempt, call)
        self.typed, self.control = max(self.typed, answer.typed), max(self.control, answer.control)
        if call.typed.data or call.control.data or any(answer.outputs):
            self.moved = time.monotonic()
        return answer
