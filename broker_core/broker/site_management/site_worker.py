"""One site at work: its calls in turns, each with a deadline, and what is not known to have arrived there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, get_args, get_type_hints

from broker_core.bookkeeping.sqlite.codec import clean
from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.site_management.error_lines import error_line, failed_by_itself
from broker_core.broker.site_management.glidein_reports import GlideinReports, Handover, NoGlideins
from broker_core.broker.site_management.sweeping import sweep_for_ever
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.errors import CrossDeskError
from broker_core.jobs.attempt_events import (
    AttemptAccepted,
    AttemptEnded,
    AttemptRefused,
    AttemptReport,
)
from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.live_job import InDoubt
from broker_core.sites.batcher import Batcher
from broker_core.sites.contract import KnownAttempt, LaunchOrder, Site
from broker_core.sites.shortage import is_shortage
from broker_core.sites.transport.contract import LinkLost

log = logging.getLogger("crossdesk.sites")
SUBMIT_DEADLINE = 1800.0
"""Seconds that handing one attempt over may take, its files included; then it is asked for again."""
CALL_DEADLINE = 300.0
"""Seconds that any other call to a site may take."""
KEPT_BACK = 20.0
"""Seconds that an attempt waits for a place at a site which is full of jobs that the scheduler believes to
have left; then it is matched again."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_TOGETHER, _MOST_TOGETHER = 0.5, 500
"""Removals that are asked for within so many seconds are done together, so many at the most."""
_TEXTS: dict[type, list[str]] = {
    kind: [name for name, of in get_type_hints(kind).items() if of is str] for kind in get_args(AttemptReport)
}
"""The fields of each kind of report that are texts."""


class SiteWorker:
    """All calls to one site. However it behaves, others are not delayed: each call is a task of its own."""

    def __init__(
        self, site: Site, engine: Engine, orders: LaunchOrders, fail: FailPoints, at_once: int, most: int = 0
    ) -> None:
        """`at_once`: submissions under way at the same time. `most`: attempts there at most; 0: no limit."""
        self.site = site
        self._engine = engine
        self._orders = orders
        self._fail = fail
        self._turns = asyncio.Semaphore(at_once)
        self._most = most
        self._ready = asyncio.Event()
        self._news = asyncio.Event()
        self._unsure: set[str] = set()
        """Tags that may be at the site, though it has not said so: they go nowhere else."""
        self._there: set[str] = set()
        """Tags of the attempts that are there, or on their way, and not over."""
        self._handing: set[str] = set()
        """Tags of those for which that is still to be found out."""
        self.glideins: GlideinReports = NoGlideins()
        """Who hears what the site says of glideins."""
        self._removals: Batcher[Sequence[Component], None] = Batcher(
            self._forget, linger=_TOGETHER, most=_MOST_TOGETHER, at_once=1
        )
        self._under_way: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self, records: Sequence[JobRecord]) -> None:
        """Begin work with the attempts believed to be there; tried until the site can be asked."""
        here = [(record, one) for record in records for one in record.components_at(self.site.name)]
        tags = [one.tag for _, one in here]
        self._unsure.update(tags)
        self._there.update(tags)
        known = [self._known(record, one) for record, one in here]
        known += [KnownAttempt(one) for one in self.glideins.known(self.site.name)]
        for tries in count():
            try:
                await self.site.start(self.report, known)
                break
            except CrossDeskError as error:
                log.warning("Work at %s cannot begin yet: %s", self.site.name, error)
            except Exception:
                # Else all that is to be done there would wait for ever.
                log.exception("Work at %s cannot begin yet", self.site.name)
            await self._pause(tries)
        self._ready.set()
        if self.site.holds:
            self._spawn(sweep_for_ever(self.site, self._engine.store, self.glideins))

    def begin_soon(self, records: Sequence[JobRecord]) -> None:
        """The same in the background."""
        self._spawn(self.begin(records))

    def link_changed(self) -> None:
        """The connection is another one: what waits for it looks again."""
        self._news.set()
        self._news = asyncio.Event()

    def submit(self, record: JobRecord, attempt: Component) -> None:
        """Hand a component of an attempt over; the answer is posted."""
        self._handing.add(attempt.tag)
        self._spawn(self._submit(record, attempt))

    def hand_over(self, handover: Handover) -> None:
        """Hand over what the scheduler knows nothing of: a glidein, or an attempt to its slot."""
        self._spawn(self._hand_over(handover))

    async def _hand_over(self, handover: Handover) -> None:
        """Ask until it is known whether the site took it."""
        await self._ready.wait()
        for tries in count():
            try:
                order = await handover.order()
                if order is None:
                    return
                self._fail("before:site.submit")
                async with asyncio.timeout(SUBMIT_DEADLINE):
                    site_id = await self.site.submit(order)
                self._fail("after:site.submit")
            except (LinkLost, TimeoutError) as error:
                log.warning("Whether %s has a glidein or its payload is not known: %s", self.site.name, error)
                await self._pause(tries)
            except (CrossDeskError, OSError) as error:
                handover.refused(clean(str(error)))
                return
            else:
                handover.taken(site_id)
                return

    def confirm(self, attempt: Component) -> None:
        """Let a held attempt start."""
        self._call("confirm", attempt)

    def cancel(self, attempt: Component) -> None:
        """End an attempt; an end is reported by the site. What is still handed over is not handed over, or
        canceled once the site has it."""
        if attempt.tag in self._handing:
            self.link_changed()
        else:
            self._call("cancel", attempt)

    async def forget(self, attempts: Sequence[Component]) -> None:
        """Remove files of ended attempts; at a site that is far, in the background."""
        if self.site.holds:
            self.forget_soon(attempts)
        else:
            await self.site.forget(attempts)

    def forget_soon(self, attempts: Sequence[Component]) -> None:
        """The same in the background."""
        self._spawn(self._removals.ask(attempts))

    def report(self, said: AttemptReport) -> None:
        """The site speaks of an attempt; called in the event loop's thread."""
        self._fail(f"before:{said.name}")
        if self.glideins.take(self.site.name, _writable(said)):
            return
        if isinstance(said, AttemptEnded):
            self._leave(said.component)
            self._unsure.discard(said.component.tag)
            if failed_by_itself(said):
                self._spawn(self._failed(said))
                return
        self._engine.post(_writable(said))

    async def _failed(self, ended: AttemptEnded) -> None:
        """Tell an end with the last words of the program. Should the broker end meanwhile, its site tells the
        end again to the next one."""
        live = self._engine.scheduler.job(ended.component.job)
        if live is not None and live.record.attempt == ended.component.attempt:
            ended = replace(ended, error_line=await self._last_words(live.record, ended.component))
        self._engine.post(_writable(ended))

    async def close(self) -> None:
        """Stop calling and listening; what runs goes on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._removals.close()
        await self.site.close()

    async def _last_words(self, record: JobRecord, of: Component) -> str:
        return await error_line(self.site, self._orders, record, of)

    def _known(self, record: JobRecord, component: Component) -> KnownAttempt:
        """What is on its way to the site is handed over again by `submit`, as the scheduler wants it."""
        job = self._engine.scheduler.job(record.id)
        in_doubt = job is not None and isinstance(job.attempt, InDoubt)
        stays = in_doubt or record.canceling is not None or record.state is not JobState.READY
        return KnownAttempt(component, resubmitted=not stays)

    async def _submit(self, record: JobRecord, attempt: Component) -> None:
        try:
            await self._handed(record, attempt)
        finally:
            self._handing.discard(attempt.tag)

    async def _handed(self, record: JobRecord, attempt: Component) -> None:
        await self._ready.wait()
        began = asyncio.get_running_loop().time()
        for tries in count():
            async with self._turns:
                if await self._settled(record, attempt, asyncio.get_running_loop().time() - began):
                    return
            await self._pause(0 if self._full else tries)

    async def _settled(self, record: JobRecord, attempt: Component, waited: float) -> bool:
        """Try once; False where it is not known whether the site has it: then it is asked again.

        `waited`: seconds since it was to be handed over first.
        """
        live = self._engine.scheduler.job(record.id)
        unsure = attempt.tag in self._unsure
        if live is None or live.record.attempt != record.attempt or live.record.state is not JobState.READY:
            self._unsure.discard(attempt.tag)
            return True
        leaving = live.canceling or (
            len(record.placements) > 1 and self._engine.scheduler.leaving(record.id)
        )
        if not unsure and (leaving or not self.site.link.usable):
            self._refused(attempt, "Canceled before the site had it" if leaving else self._away())
            return True
        if leaving:
            return await self._asked("cancel", attempt)
        if self._full and attempt.tag not in self._there:
            if waited >= KEPT_BACK:
                self._refused(attempt, f"{self.site.name} has the {self._most} jobs that its settings allow")
            return waited >= KEPT_BACK
        self._there.add(attempt.tag)
        return await self._handed_over(record, attempt)

    @property
    def _full(self) -> bool:
        """As many attempts are there as its owner allows."""
        return 0 < self._most <= len(self._there)

    def _leave(self, attempt: Component) -> None:
        """An attempt is not there any more, or did not get there: another one may have its place."""
        self._there.discard(attempt.tag)
        if self._most:
            self.link_changed()

    async def _handed_over(self, record: JobRecord, attempt: Component) -> bool:
        try:
            order = await self._order(record, attempt)
            self._fail("before:site.submit")
            self._unsure.add(attempt.tag)
            async with asyncio.timeout(SUBMIT_DEADLINE):
                site_id = await self.site.submit(order)
            self._fail("after:site.submit")
        except (LinkLost, TimeoutError) as error:
            log.warning("Whether %s has %s is not known; asked again: %s", self.site.name, attempt.tag, error)
            return False
        except CrossDeskError as error:
            self._refused(attempt, str(error), counts=not is_shortage(error.__cause__))
        except OSError as error:
            self._refused(attempt, f"{error.strerror or error}", counts=not is_shortage(error))
        except Exception as error:
            log.exception("Submitting %s failed", attempt.tag)
            self._refused(attempt, f"internal error: {error}", counts=True)
        else:
            self._handing.discard(attempt.tag)
            self._engine.post(AttemptAccepted(attempt, site_id, held=self.site.holds))
        self._unsure.discard(attempt.tag)
        return True

    async def _order(self, record: JobRecord, attempt: Component) -> LaunchOrder:
        """The order; raises CrossDeskError, and then nothing stays at the site of what may be there."""
        try:
            live = self._engine.scheduler.job(record.id)
            placements = record.placements if live is None else live.placements
            return await self._orders.of(record, attempt, placements)
        except LinkLost:
            raise  # it is handed over once the way for its agent can be made
        except CrossDeskError:
            if attempt.tag in self._unsure:
                self._call("cancel", attempt)
            raise

    def _away(self) -> str:
        link = self.site.link
        if link.trouble and not link.reason:
            return f"{self.site.name} cannot be used: {link.trouble}"
        return f"{self.site.name} is {link.state.value}" + (f": {link.reason}" if link.reason else "")

    def _refused(self, attempt: Component, reason: str, *, counts: bool = False) -> None:
        self._leave(attempt)
        self._engine.post(AttemptRefused(attempt, clean(reason), counts))

    def _call(self, what: str, attempt: Component) -> None:
        """Ask for something unless it is asked for already; the scheduler asks again in time."""
        if (what, attempt.tag) not in self._under_way:
            self._under_way.add((what, attempt.tag))
            self._spawn(self._ask(what, attempt))

    async def _ask(self, what: str, attempt: Component) -> None:
        try:
            await self._ready.wait()
            self._fail(f"before:site.{what}")
            await self._asked(what, attempt)
            self._fail(f"after:site.{what}")
        finally:
            self._under_way.discard((what, attempt.tag))

    async def _asked(self, what: str, attempt: Component) -> bool:
        """True if the site took a confirmation or a cancel."""
        call = self.site.confirm if what == "confirm" else self.site.cancel
        try:
            async with asyncio.timeout(CALL_DEADLINE):
                await call(attempt)
        except (CrossDeskError, OSError) as error:  # a deadline is an OSError too
            log.warning("To %s %s at %s failed: %s", what, attempt.tag, self.site.name, error or "no answer")
            return False
        except Exception:
            log.exception("To %s %s at %s failed", what, attempt.tag, self.site.name)
            return False
        return True

    async def _forget(self, groups: Sequence[Sequence[Component]]) -> list[None]:
        """Remove files, tried until that is done."""
        await self._ready.wait()
        attempts = [one for group in groups for one in group]
        for tries in count():
            try:
                async with asyncio.timeout(CALL_DEADLINE):
                    await self.site.forget(attempts)
                break
            except (CrossDeskError, OSError) as error:  # a deadline is an OSError too
                log.info("Files at %s are removed later: %s", self.site.name, error or "no answer")
            await self._pause(tries)
        return [None] * len(groups)

    async def _pause(self, tries: int) -> None:
        """Wait before the same is asked again: a while that grows, or until the connection is another one."""
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(tries, 10))
        if not self.site.link.usable:
            pause = _LONGEST_PAUSE
        try:
            async with asyncio.timeout(pause):
                await self._news.wait()
        except TimeoutError:
            return

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=f"work at {self.site.name}")
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("Work at %s failed", self.site.name, exc_info=error)


def _writable(said: AttemptReport) -> AttemptReport:
    """The same; text that a site did not write in UTF-8 gets escapes, so that it can be kept and sent."""
    cleaned: dict[str, Any] = {
        name: clean(text) for name in _TEXTS[type(said)] if not (text := getattr(said, name)).isascii()
    }
    return replace(said, **cleaned) if cleaned else said
