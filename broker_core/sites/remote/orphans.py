"""Attempts that count as over though their site may have them: they are looked for, and told to end."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Container, Sequence

from broker_core.sites.adapter import PollResult
from broker_core.sites.remote.completion_detection import PRESENT

_LAG = 60.0
"""Seconds that a site's list may show what is over."""


class Orphans:
    """What carries the broker's mark at a site, and is not the broker's will (any more)."""

    def __init__(self, cancel: Callable[[Sequence[str]], Awaitable[None]], again: float) -> None:
        """`cancel`: tells the site to end some; `again`: seconds after which it is told so once more."""
        self._cancel, self._again = cancel, again
        self.expected = True
        """Some may be there that were not told to end. No lease is renewed then: it would let them go on."""
        self._over: dict[str, float] = {}
        """Tag to when its end was reported, by the monotonic clock; the site's list may lag behind."""
        self._leaving: dict[str, float] = {}
        """Tag to when it was told to end."""
        self.present: frozenset[str] = frozenset()
        """Tags of all that the site had by the last look."""
        self._looked = -math.inf
        """When the last look began whose answer was whole, by the monotonic clock."""
        self._news = asyncio.Event()

    @property
    def awaited(self) -> bool:
        """True while the site has to be looked at because of them."""
        return self.expected or bool(self._leaving)

    async def next_look(self) -> None:
        """Wait for a look that begins from now on and tells all that the site has."""
        since = time.monotonic()
        while self._looked < since:
            await self._news.wait()

    def over(self, tag: str) -> None:
        """The end of an attempt was reported, so that it needs no end from here."""
        self._over[tag] = time.monotonic()

    async def end(self, polled: PollResult, known: Container[str], began: float) -> tuple[bool, list[str]]:
        """After a look that began at `began`: tell all to end; true if that is news.

        The second value: tags whose directories can be removed. What was told to end is told so by a file
        there too, which has to stay until it has ended.
        """
        now = time.monotonic()
        self.present = frozenset(tag for tag, one in polled.attempts.items() if one.seen in PRESENT)
        self._over = {tag: over for tag, over in self._over.items() if over > began or tag in polled.attempts}
        there = {tag for tag in polled.attempts if tag not in known and self._counts(tag, now)}
        asked = [tag for tag in there if now - self._leaving.get(tag, -self._again) >= self._again]
        if asked:
            await self._cancel(asked)
        self._leaving |= dict.fromkeys(asked, now)
        left = {tag for tag in self._leaving if tag in there and polled.attempts[tag].seen in PRESENT}
        gone = [tag for tag in self._leaving if tag not in left]
        for tag in gone:
            del self._leaving[tag]
        self._looked = began
        self._news.set()
        self._news = asyncio.Event()
        return bool(asked), gone

    def _counts(self, tag: str, now: float) -> bool:
        """False for what ended a moment ago, which the site may not know yet."""
        return now - self._over.get(tag, -_LAG) >= _LAG
