"""Keeps the state of the link to a computing element: tries, waits longer and longer, tries again."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from broker_core.sites.link import Link, LinkEvent, LinkState, Question
from broker_core.sites.transport.contract import LinkLost, NotSent

log = logging.getLogger("crossdesk.sites")
FIRST = 1.0
"""Seconds to the first new try; each further wait is twice as long."""
LONGEST = 60.0
RARELY = 300.0
"""Seconds between tries of a link that is down."""
LONG = 600.0
"""Seconds of silence after which the link is down."""
LOOK = 2.0
"""Seconds between two looks at the user's files while a credential is missing."""


class ArcRefused(LinkLost):
    """The site is there, but does not want us, or is not to be trusted: another try would not help."""


class CredentialNeeded(LinkLost):
    """Only the user can go on: there is no valid credential, or its key needs a passphrase."""

    def __init__(self, message: str, question: Question | None = None, **more: str) -> None:
        super().__init__(message, **more)
        self.question = question


class ArcConnector:
    """Owns the state of one link."""

    def __init__(self, link: Link, attempt: Callable[[], Awaitable[None]]) -> None:
        """`attempt`: one try to reach the site; raises LinkLost and its kinds."""
        self._link = link
        self._attempt = attempt
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._pause = FIRST
        self._silent_since: float | None = None
        self.losses = 0
        """How often a link that was up was lost."""

    def open(self) -> None:
        """Begin to connect; on a link that waits, try now."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        elif self._link.state is not LinkState.CONNECTED:
            self._wake.set()

    async def close(self) -> None:
        """Stop trying."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def ready(self) -> None:
        """Return when the link is up; raises LinkLost at once where only the user or much time can help."""
        while self._link.state is not LinkState.CONNECTED:
            if self._link.state in (LinkState.NEEDS_CREDENTIALS, LinkState.DOWN):
                raise NotSent(self._link.reason)
            await self._link.news()

    def heard(self) -> None:
        """The site has answered."""
        self._link.heard = time.time()

    def lost(self, error: LinkLost) -> None:
        """A call found the link broken."""
        if self._link.state is LinkState.CONNECTED:
            self.losses += 1
            self._tell(error)
            self._wake.set()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self._attempt()
            except LinkLost as error:
                await self._wait(self._tell(error))
                continue
            except Exception as error:
                # Else nobody would ever try again, and all that waits for the link would wait for ever.
                log.exception("Connecting failed in an unforeseen way")
                await self._wait(self._tell(LinkLost(f"Connecting failed in an unforeseen way: {error!r}.")))
                continue
            self._pause, self._silent_since = FIRST, None
            self.heard()
            self._link.transition(LinkEvent.ANSWERED)
            await self._wake.wait()
            self._wake.clear()
            await self._wait(FIRST)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _tell(self, error: LinkLost) -> float:
        """Show why the link is not up; returns the seconds until the next try."""
        now = time.time()
        if isinstance(error, CredentialNeeded):
            self._link.transition(LinkEvent.ASKED, str(error), question=error.question)
            return LOOK if error.question else LONGEST
        if isinstance(error, ArcRefused):
            self._link.transition(LinkEvent.GIVEN_UP, str(error), retry_at=now + RARELY)
            return RARELY
        self._silent_since = self._silent_since or time.monotonic()
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST)
        if time.monotonic() - self._silent_since >= LONG:
            self._link.transition(LinkEvent.GIVEN_UP, str(error), retry_at=now + RARELY)
            return RARELY
        self._link.transition(LinkEvent.LOST, str(error), retry_at=now + pause)
        return pause
