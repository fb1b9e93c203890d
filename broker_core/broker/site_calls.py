"""Calls to the sites: what the scheduler wants done there, and what the sites report back."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from broker_core.bookkeeping.codec import clean
from broker_core.broker.engine import Engine
from broker_core.broker.failpoints import FailPoints
from broker_core.broker.orders import Orders
from broker_core.errors import CrossDeskError, NotFound
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.effects import Cancel, Confirm, Submit
from broker_core.scheduling.messages import (
    AttemptEnded,
    AttemptStarted,
    SiteAccepted,
    SiteRefused,
    SiteRuns,
)
from broker_core.sites.contract import Attempt, LaunchOrder, Notice, Runs, Site, Started

log = logging.getLogger("crossdesk.sites")
AT_ONCE = 32
"""Calls to one site that are under way at the same time."""
_SHORTAGES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)


class SiteCalls:
    """All sites of the broker; knows which computing element is whose."""

    def __init__(self, engine: Engine, sites: Sequence[Site], orders: Orders, fail: FailPoints) -> None:
        self._engine = engine
        self.sites: dict[str, Site] = {site.name: site for site in sites}
        """Name to site."""
        self._orders = orders
        self._fail = fail
        self._turns = {name: asyncio.Semaphore(AT_ONCE) for name in self.sites}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking = False

    async def start(self, records: Sequence[JobRecord]) -> None:
        """Begin work at every site with the attempts believed to be there (reliability cases 1 to 3)."""
        self._fail("before:sites.start")
        self._asking = True
        for site in self.sites.values():
            known = [await self._known(record) for record in records if site.owns(record.site)]
            await site.start(self.report, known)
        self._asking = False
        self._fail("after:sites.start")

    def site_of(self, ce: str) -> Site | None:
        """The site that has, or had, a computing element."""
        return next((site for site in self.sites.values() if site.owns(ce)), None)

    @staticmethod
    def places_of(site: Site, places: Iterable[str]) -> list[str]:
        """Those values of `JobRecord.site` that name a computing element of a site."""
        return [place for place in places if any(site.owns(ce) for ce in place.split(", "))]

    def submit(self, effect: Submit) -> None:
        """Hand an attempt to its site; the answer is posted."""
        self._spawn(self._submit(effect))

    def confirm(self, effect: Confirm) -> None:
        """Let a held attempt start at its site, where attempts are held at all."""
        site = self.site_of(effect.ce)
        if site is not None and site.holds:
            self._spawn(self._confirm(effect, site))

    def cancel(self, effect: Cancel) -> None:
        """End an attempt at its site; an end is reported by the site."""
        self._spawn(self._cancel(effect))

    def report(self, notice: Notice) -> None:
        """A site speaks; called in the event loop's thread."""
        attempt = notice.attempt
        self._fail(f"before:notice.{type(notice).__name__}")
        if isinstance(notice, Runs):
            self._engine.post(SiteRuns(attempt.job, attempt.number))
            return
        if isinstance(notice, Started):
            self._engine.post(
                AttemptStarted(
                    attempt.job, attempt.number, notice.time, clean(notice.node), asked=self._asking
                )
            )
            return
        self._engine.post(
            AttemptEnded(
                attempt.job,
                attempt.number,
                notice.time,
                notice.exit_code,
                notice.signal,
                notice.failure,
                clean(notice.reason),
                notice.usage,
                notice.started,
            )
        )

    async def forget(self, records: Sequence[JobRecord]) -> None:
        """Remove the files of ended jobs at the sites (purge)."""
        for site in self.sites.values():
            attempts = [
                Attempt(record.id, number)
                for record in records
                if site.owns(record.site)
                for number in range(1, record.attempt + 1)
            ]
            if attempts:
                await site.forget(attempts)

    async def close(self) -> None:
        """Stop calling and listening; what runs goes on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for site in self.sites.values():
            await site.close()

    async def _known(self, record: JobRecord) -> tuple[Attempt, LaunchOrder | None]:
        attempt = Attempt(record.id, record.attempt)
        if record.canceling is not None or record.state is not JobState.READY:
            return attempt, None
        return attempt, await self._orders.order(record)

    async def _submit(self, effect: Submit) -> None:
        record = effect.record
        try:
            site = self._site(effect.ce)
            async with self._turns[site.name]:
                order = await self._orders.order(record)
                self._fail("before:site.submit")
                site_id = await site.submit(order)
                self._fail("after:site.submit")
        except CrossDeskError as error:
            self._refused(record, str(error), counts=not _short(error.__cause__))
        except OSError as error:
            self._refused(record, f"{error.strerror or error}", counts=not _short(error))
        except Exception as error:
            log.exception("Submitting %s.%d failed", record.id, record.attempt)
            self._refused(record, f"internal error: {error}")
        else:
            self._engine.post(SiteAccepted(record.id, record.attempt, site_id, held=site.holds))

    def _site(self, ce: str) -> Site:
        site = self.site_of(ce)
        if site is None:
            raise NotFound("This broker does not know the resource any more.", place=ce)
        return site

    def _refused(self, record: JobRecord, reason: str, *, counts: bool = True) -> None:
        self._engine.post(SiteRefused(record.id, record.attempt, clean(reason), counts))

    async def _confirm(self, effect: Confirm, site: Site) -> None:
        record = effect.record
        self._fail("before:site.confirm")
        try:
            await site.confirm(Attempt(record.id, record.attempt))
        except (CrossDeskError, OSError) as error:
            # Asked again once the site is back in contact, and after a restart.
            log.warning("Confirming %s.%d at %s failed: %s", record.id, record.attempt, effect.ce, error)
        self._fail("after:site.confirm")

    async def _cancel(self, effect: Cancel) -> None:
        record = effect.record
        self._fail("before:site.cancel")
        try:
            await self._site(effect.ce).cancel(Attempt(record.id, record.attempt))
        except (CrossDeskError, OSError) as error:
            # The scheduler asks again as long as no end is reported.
            log.warning("Canceling %s.%d at %s failed: %s", record.id, record.attempt, effect.ce, error)
        self._fail("after:site.cancel")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _short(error: BaseException | None) -> bool:
    """True for a shortage of this machine, which says nothing about the job (reliability cases 6 and 25)."""
    return isinstance(error, OSError) and error.errno in _SHORTAGES
