"""Keeps one SSH connection: connects, notices its loss, tries again ever more rarely, and tells the link."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from broker_core.sites.link import Link, LinkEvent, LinkState, Question, QuestionKind
from broker_core.sites.transport.contract import LinkLost, NotSent
from broker_core.sites.transport.questions import Asks, QuestionDeclined
from broker_core.sites.transport.retry_policy import RetryPolicy

_LOG = logging.getLogger(__name__)
_FLAPPING = 3
"""Failures that still count once a command has run, and while it is tried often: a connection that comes and
goes is worth trying for."""
_HANGS, _SELDOM = 5.0, 30.0
"""Seconds after which a try may give way to one that is asked for, and after which another may again: who
asks over and over must not keep a slow login from ever being done."""
_KEYS = (QuestionKind.TRUST_HOST, QuestionKind.CHANGED_HOST)
"""Questions that may be settled elsewhere: by another site of the same host, or by ssh."""
_STUCK = (LinkState.NEEDS_CREDENTIALS, LinkState.DOWN)
"""States in which nobody waits for a connection."""


class KeptConnection(Protocol):
    """A connection as the keeper sees it."""

    async def lost(self) -> Exception | None:
        """Wait until it is gone."""
        ...

    def close(self) -> None:
        """Give it up."""
        ...


L = TypeVar("L", bound=KeptConnection)


class SshConnector(Generic[L]):
    """The one connection of a site, while it is started."""

    def __init__(
        self,
        link: Link,
        patience: RetryPolicy,
        dial: Callable[[], Awaitable[L]],
        prove: Callable[[L], Awaitable[None]],
    ) -> None:
        """`dial` connects; raises Asks, Refused and LinkLost. `prove` runs a command; raises LinkLost."""
        self._link, self._patience, self._dial, self._prove = link, patience, dial, prove
        self._line: L | None = None
        self._failures = 0
        self._away: float | None = None
        """Since when there is no connection, by the event loop's clock."""
        self._stood = False
        """There was a connection before."""
        self._task: asyncio.Task[None] | None = None
        self._dialing: asyncio.Task[L] | None = None
        self._dialed_at = self._anew_at = -math.inf
        """When the try under way began, and when one gave way to another, by the event loop's clock."""
        self._wake = asyncio.Event()
        self._doubt = asyncio.Event()

    def start(self) -> None:
        """Begin to connect, and stay connected."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Give the connection up."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._link.transition(LinkEvent.GIVEN_UP, "closed")

    def try_now(self) -> None:
        """Do not wait any longer, neither for the next try nor for an answer."""
        self._wake.set()
        self._dial_anew()
        if self._task is not None and self._link.state in _STUCK:
            self._link.transition(LinkEvent.TRIED)

    def hurry(self) -> None:
        """The way may be open again, or the key of the host be known: do not wait for the next try."""
        question = self._link.question
        if self._link.state in (LinkState.RETRYING, LinkState.DOWN) or (question and question.kind in _KEYS):
            self._wake.set()
            self._dial_anew()

    @property
    def is_hasty(self) -> bool:
        """True while a connection that stood is away for a short time only."""
        away = self._away
        return self._stood and away is not None and self._since(away) <= self._patience.hasty

    @staticmethod
    def _since(moment: float) -> float:
        return asyncio.get_running_loop().time() - moment

    def _dial_anew(self) -> None:
        """A try that may wait in vain gives way to a new one, unless the user is being asked."""
        if self._dialing is None or self._link.state is LinkState.NEEDS_CREDENTIALS:
            return
        if self._since(self._dialed_at) >= _HANGS and self._since(self._anew_at) >= _SELDOM:
            self._anew_at = asyncio.get_running_loop().time()
            self._dialing.cancel()

    def doubt(self) -> None:
        """A command was not answered in time: find out whether the connection still works."""
        self._doubt.set()

    async def line(self) -> L:
        """The connection, waited for while one may come; raises NotSent."""
        while self._line is None:
            if self._task is None:
                raise NotSent("The connection is closed.")
            if self._link.state is LinkState.NEEDS_CREDENTIALS:
                raise NotSent(self._link.reason, remedy="Answer this in the view of sites.")
            if self._link.state is LinkState.DOWN:
                raise NotSent(self._link.reason)
            await self._link.news()
        return self._line

    async def ask(self, question: Question) -> None:
        """Show a question while the server waits for its answer, and wait for that."""
        self._link.transition(LinkEvent.ASKED, question.text, question=question)
        self._wake.clear()
        await self._wake.wait()

    async def _keep(self) -> None:
        while True:
            self._wake.clear()
            try:
                line = await self._dialed()
                try:
                    await self._stay(line)
                finally:
                    self._line = None
                    line.close()
            except Asks as asks:
                self._link.transition(LinkEvent.ASKED, asks.question.text, question=asks.question)
                await self._wake.wait()
            except LinkLost as error:
                await self._pause(error)
            except Exception as error:  # noqa: BLE001 - told in the link and in the broker's log
                # Whatever a server makes a library do, the site must come back when the server is better.
                _LOG.exception("connecting failed in an unforeseen way")
                await self._pause(LinkLost(f"Connecting failed in an unforeseen way: {error!r}."))

    async def _dialed(self) -> L:
        while True:
            self._dialed_at = asyncio.get_running_loop().time()
            self._dialing = asyncio.ensure_future(self._dial())
            try:
                return await self._dialing
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is None or task.cancelling():
                    raise
                self._wake.clear()
            finally:
                self._dialing = None

    async def _stay(self, line: L) -> None:
        """Use a connection until it is lost; raises LinkLost."""
        await self._prove(line)
        began = asyncio.get_running_loop().time()
        self._failures = min(self._failures, _FLAPPING)
        self._line, self._away, self._stood = line, None, True
        self._link.heard = time.time()
        self._link.transition(LinkEvent.ANSWERED)
        try:
            error = await self._watch(line)
        finally:
            if asyncio.get_running_loop().time() - began >= self._patience.steady:
                self._failures = 0
        raise LinkLost(f"The connection was lost: {error or 'the server closed it'}.")

    async def _watch(self, line: L) -> Exception | None:
        """Wait for the loss; a connection in doubt must prove itself anew."""
        lost = asyncio.create_task(line.lost())
        try:
            while True:
                self._doubt.clear()
                doubt = asyncio.create_task(self._doubt.wait())
                try:
                    await asyncio.wait((lost, doubt), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    doubt.cancel()
                if lost.done():
                    return lost.result()
                self._link.note("a command got no answer; trying the connection")
                await self._prove(line)
        finally:
            lost.cancel()

    async def _pause(self, error: LinkLost) -> None:
        """Tell why there is no connection, and wait for the next try."""
        self._away = asyncio.get_running_loop().time() if self._away is None else self._away
        hasty, for_good = self.is_hasty, isinstance(error, QuestionDeclined)
        self._failures = min(self._failures + 1, _FLAPPING) if hasty else self._failures + 1
        pause = self._patience.pause(self._failures, self._since(self._away), hasty=hasty)
        seconds = self._patience.longest if for_good else pause
        is_down = for_good or self._failures >= self._patience.give_up
        event = LinkEvent.GIVEN_UP if is_down else LinkEvent.LOST
        self._link.transition(event, str(error), retry_at=time.time() + seconds)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
