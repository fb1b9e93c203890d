"""One source and the task that asks it; whatever its updater does ends in the source's state."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from broker_core.errors import CrossDeskError
from broker_core.information.glue.plausible import TWICE
from broker_core.information.glue.python_values import accepted, attributes
from broker_core.information.glue.refusals import Refusals
from broker_core.information.source_state import SourceState
from broker_core.information.updater import (
    Remembering,
    SourceAnswer,
    SourceFailed,
    SourceSettings,
    Updater,
    Watching,
)
from broker_core.reactor.reactor import Now
from broker_core.resources.facts import Facts, SourceHeard
from broker_core.wire.site_states import SourceCondition

log = logging.getLogger("crossdesk.information")
SOONEST = 0.25
"""Seconds after an answer in which a source that says that it has changed is not asked again."""
LAST_WORDS = 2.0
"""Seconds that an updater gets to end when its question is given up."""
Publish = Callable[[SourceHeard], None]
Clock = Callable[[], Now]
_SLICE = 50
"""Facts that are looked at before others get their turn."""
_LONGEST_NAME = 255


class Source:
    """Asks one updater for ever, and publishes what it says."""

    def __init__(
        self,
        settings: SourceSettings,
        updater: Updater,
        publish: Publish,
        clock: Clock,
        slow_after: float,
        changed: Callable[[], None],
    ) -> None:
        self.name = settings.name
        self.state = SourceState(settings, changed)
        self._settings = settings
        self._updater = updater
        self._publish = publish
        self._clock = clock
        self._slow_after = slow_after
        self._wanted = asyncio.Event()
        self._rounds = 0
        self._answered = asyncio.Condition()
        self._given_up: asyncio.Task[SourceAnswer] | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to ask."""
        self._task = asyncio.create_task(self._run(), name=f"source {self._settings.name}")

    async def close(self) -> None:
        """Ask no more; what is under way is given up."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def forget(self) -> None:
        """Take back all that the source said."""
        self._publish(self._message(SourceAnswer(facts=()), self._clock()))

    async def _run(self) -> None:
        """Ask: at once, after each interval, when wanted, and when the source has changed."""
        while True:
            self._wanted.clear()
            await self._ask()
            async with self._answered:
                self._rounds += 1
                self._answered.notify_all()
            pause = self.state.pause()
            self.state.view.next = self._clock().wall + pause
            await self._rest(pause)

    def want(self) -> None:
        """Have it asked now, or once more if it is being asked."""
        self._wanted.set()

    async def refresh(self) -> None:
        """Have it asked now; returns when there is an answer or none, or when nobody asks any more."""
        if self._task is None:
            return
        if isinstance(self._updater, Remembering):
            self._updater.renew()
        round_ = asyncio.ensure_future(self._next_round())
        try:
            await asyncio.wait({round_, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            round_.cancel()
            await asyncio.gather(round_, return_exceptions=True)

    async def _next_round(self) -> None:
        async with self._answered:
            before = self._rounds
            if self.state.view.state not in (SourceCondition.ASKING, SourceCondition.SLOW):
                self._wanted.set()
            await self._answered.wait_for(lambda: self._rounds > before)

    async def _rest(self, pause: float) -> None:
        waits = [asyncio.ensure_future(self._wanted.wait()), asyncio.ensure_future(self._news())]
        try:
            await asyncio.wait(waits, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _news(self) -> bool:
        """Returns when the source says that it has changed; never, where it cannot say."""
        if isinstance(self._updater, Watching):
            await asyncio.sleep(SOONEST)
            try:
                await self._updater.changed()
                return True
            except Exception:
                log.exception("The source %s cannot be watched", self._settings.name)
        return await asyncio.Event().wait()

    async def _ask(self) -> None:
        begin = self._clock()
        self.state.asking(begin.wall)
        try:
            answer = await self._answer()
            end = self._clock()
            self._publish(self._message(answer, end))
            self.state.heard(answer, end.wall, end.monotonic - begin.monotonic)
        except CrossDeskError as error:
            self.state.failed(str(error))
        except Exception as error:
            log.exception("The source %s fails", self._settings.name)
            self.state.failed(
                f"Its updater fails ({type(error).__name__}: {error}). Correct or update it; "
                "the broker's log says where it fails."
            )

    def _message(self, answer: SourceAnswer, now: Now) -> SourceHeard:
        return SourceHeard(
            source=self._settings.name,
            time=now.wall,
            monotonic=now.monotonic,
            facts=answer.facts,
            complete=answer.complete,
            silent=answer.silent,
            interval=self._settings.interval,
            account=answer.account,
            storage=answer.storage,
        )

    async def _answer(self) -> SourceAnswer:
        """The updater's answer within the deadline; raises whatever it raises, and SourceFailed."""
        if self._given_up is not None and not self._given_up.done():
            raise SourceFailed(
                "Its updater still holds on to a question that was given up.",
                remedy="Correct the plug-in: `fetch` must end when it is cancelled.",
            )
        task = asyncio.ensure_future(self._updater.fetch())
        try:
            return await acceptable(await self._in_time(task))
        finally:
            await self._end(task)

    async def _in_time(self, task: asyncio.Task[SourceAnswer]) -> SourceAnswer:
        deadline = self._settings.deadline
        await asyncio.wait({task}, timeout=min(self._slow_after, deadline))
        if not task.done() and deadline > self._slow_after:
            self.state.slow(self._slow_after)
            await asyncio.wait({task}, timeout=deadline - self._slow_after)
        if not task.done():
            raise SourceFailed(
                f"No answer within {deadline:g} s.",
                place=self._settings.address,
                remedy="Check that it works and can be reached; deadline = SECONDS gives it more time.",
            )
        if task.cancelled():
            raise SourceFailed("Its updater gave up.", remedy="The broker's log may say more.")
        return task.result()

    async def _end(self, task: asyncio.Task[SourceAnswer]) -> None:
        """Give up a question that is still open, without waiting long for an updater that holds on."""
        if task.done():
            return
        task.cancel()
        self._given_up = task
        task.add_done_callback(_noticed)
        await asyncio.wait({task}, timeout=LAST_WORDS)


def _noticed(task: asyncio.Task[SourceAnswer]) -> None:
    """What a given-up question still raises concerns nobody, but must not be left unread."""
    if not task.cancelled() and task.exception() is not None:
        log.debug("A question that was given up ended with %r", task.exception())


async def acceptable(answer: object) -> SourceAnswer:
    """The answer with what cannot be left out and noted; raises SourceFailed if it is none at all."""
    if not isinstance(answer, SourceAnswer):
        raise SourceFailed(
            f"The updater gives {type(answer).__name__} instead of an answer.",
            remedy="Correct the plug-in: `fetch` returns broker_core.information.updater.Answer.",
        )
    if answer.checked:
        return answer
    remarks, kept = Refusals(), dict[str, Facts]()
    given = list(answer.facts)
    for start in range(0, len(given), _SLICE):
        for one in accepted(_well_formed(given[start : start + _SLICE], remarks), remarks):
            if kept.setdefault(one.ce, one) is not one:
                remarks.add(one.ce, TWICE)
        await asyncio.sleep(0)
    storage = {str(name): attributes(str(name), one, remarks) for name, one in answer.storage.items()}
    own = [str(remark) for remark in answer.remarks]
    return replace(
        answer,
        facts=tuple(kept.values()),
        complete=bool(answer.complete),
        silent=tuple(str(name) for name in answer.silent),
        remarks=(*own, *remarks.shown),
        refused=len(own) + remarks.count,
        checked=True,
        storage=storage,
    )


def _well_formed(given: Iterable[Any], remarks: Refusals) -> list[Facts]:
    found = []
    for one in given:
        if not isinstance(one, Facts) or not isinstance(one.ce, str) or not isinstance(one.attributes, dict):
            remarks.add(str(one)[:80], "entry refused: these are no facts")
        elif not isinstance(one.site, str) or len(one.site) > _LONGEST_NAME:
            remarks.add(one.ce, "entry refused: no site can have that name")
        else:
            found.append(one)
    return found
