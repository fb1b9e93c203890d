"""All sites of the broker: what the scheduler wants done is passed to the site whose it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from broker_core.broker.clock import now
from broker_core.broker.engine import Engine
from broker_core.broker.failpoints import FailPoints
from broker_core.broker.orders import Orders
from broker_core.broker.site_work import SiteWork
from broker_core.jobs.record import JobRecord
from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState
from broker_core.scheduling.effects import Cancel, Confirm, Submit
from broker_core.scheduling.live_job import AT_SITE
from broker_core.scheduling.messages import AttemptEnded, SiteRefused
from broker_core.sites.contract import Attempt, Site

log = logging.getLogger("crossdesk.sites")
AT_ONCE = 32
"""Submissions to this machine that are under way at the same time."""
FAR_AT_ONCE = 1000
"""The same for other sites, which hand many over in one exchange."""


class SiteCalls:
    """Knows which computing element is whose."""

    def __init__(self, engine: Engine, orders: Orders, fail: FailPoints) -> None:
        self._engine = engine
        self._orders = orders
        self._fail = fail
        self._works: dict[str, SiteWork] = {}
        self._orphans: set[str] = set()
        """Tags of attempts that may be at sites which are not known any more."""

    @property
    def sites(self) -> dict[str, Site]:
        """Name to site."""
        return {name: work.site for name, work in self._works.items()}

    def add(self, site: Site, *, far: bool = True, most: int = 0) -> None:
        """Know one more site, or another one under a known name; its work has not begun.

        `most`: attempts that may be there at the same time; 0: no limit.
        """
        at_once = FAR_AT_ONCE if far else AT_ONCE
        shared = self._engine, self._orders, self._fail
        self._works[site.name] = SiteWork(site, *shared, at_once, most)

    def work(self, name: str) -> SiteWork:
        """What is done at a site of a known name."""
        return self._works[name]

    async def remove(self, name: str) -> None:
        """Know a site no more; what runs there goes on."""
        await self._works.pop(name).close()

    async def start(self, records: Sequence[JobRecord]) -> None:
        """Begin work at every site with the attempts believed to be there (reliability cases 1 to 3).

        This machine is waited for; other sites find their attempts again in their own time (case 9).
        """
        self._fail("before:sites.start")
        for work in list(self._works.values()):
            mine = [record for record in records if work.site.owns(record.site)]
            if work.site.holds:
                work.begin_soon(mine)
            else:
                await work.begin(mine)
        strays = [record for record in records if self.site_of(record.site) is None]
        self._orphans.update(Attempt(record.id, record.attempt).tag for record in strays)
        self._fail("after:sites.start")

    def begin(self, name: str, records: Sequence[JobRecord]) -> None:
        """Begin work at a site that was added, or changed, while the broker runs."""
        work = self._works[name]
        work.begin_soon(records)
        for record in records:
            if record.state is JobState.READY:
                work.submit(record)

    def link_changed(self, name: str) -> None:
        """The connection to a site is another one."""
        self._works[name].link_changed()

    def live_at(self, site: Site) -> list[JobRecord]:
        """Records of the jobs that have an attempt at a site."""
        records = (job.record for job in self._engine.scheduler.live())
        return [one for one in records if one.state in AT_SITE and site.owns(one.site)]

    def site_of(self, ce: str) -> Site | None:
        """The site that has, or had, a computing element."""
        work = self._work_of(ce)
        return work.site if work else None

    @staticmethod
    def places_of(site: Site, places: Iterable[str]) -> list[str]:
        """Those values of `JobRecord.site` that name a computing element of a site."""
        return [place for place in places if any(site.owns(ce) for ce in place.split(", "))]

    def submit(self, effect: Submit) -> None:
        """Hand an attempt to its site; the answer is posted."""
        record, work = effect.record, self._work_of(effect.ce)
        if work is not None:
            work.submit(record)
        elif Attempt(record.id, record.attempt).tag not in self._orphans:
            reason = "This broker does not know the resource any more"
            self._engine.post(SiteRefused(record.id, record.attempt, f"{effect.ce}: {reason}", counts=False))

    def confirm(self, effect: Confirm) -> None:
        """Let a held attempt start at its site."""
        work = self._work_of(effect.ce)
        if work is not None:
            work.confirm(effect.record)

    def cancel(self, effect: Cancel) -> None:
        """End an attempt at its site; an end is reported by the site."""
        work = self._work_of(effect.ce)
        if work is not None:
            work.cancel(effect.record)
        else:
            self.give_up(effect.record)

    def give_up(self, record: JobRecord, *, is_ended: bool = False) -> None:
        """Settle the cancel of an attempt that nobody can reach any more; `is_ended`: it does not run on."""
        site = site_name(record.site)
        reason = f"{site} is not among the sites any more" + (
            ": the job was ended there before" if is_ended else ": what may still run there was not ended"
        )
        self._engine.post(
            AttemptEnded(record.id, record.attempt, now().wall, failure="killed", reason=reason)
        )

    async def forget(self, records: Sequence[JobRecord]) -> None:
        """Remove the files of ended jobs at all sites that they were at (purge)."""
        tried = {record.id for record in records if record.attempt > 1}
        for work in list(self._works.values()):  # sites may be added and removed meanwhile
            attempts = {
                Attempt(record.id, number)
                for record in records
                if work.site.owns(record.site)
                for number in range(1, record.attempt + 1)
            }
            if tried:
                kept = await asyncio.to_thread(work.site.kept)
                attempts.update(one for one in kept if one.job in tried)
            if attempts:
                await work.forget(sorted(attempts, key=lambda one: one.tag))

    async def forget_unknown(self, *, died: bool) -> None:
        """Remove the files of jobs that are not in the store: they were purged while their site was silent,
        or the broker `died` meanwhile."""
        for work in list(self._works.values()):
            if not (died or work.site.holds):
                continue  # this machine is never silent
            kept = await asyncio.to_thread(work.site.kept)
            known = {record.id for record in await self._engine.store.jobs([one.job for one in kept])}
            if gone := [one for one in kept if one.job not in known]:
                log.info("Files of %d purged jobs at %s are removed", len(gone), work.site.name)
                await work.forget(gone)

    async def close(self) -> None:
        """Stop calling and listening; what runs goes on."""
        await asyncio.gather(*(work.close() for work in self._works.values()))

    def _work_of(self, ce: str) -> SiteWork | None:
        return next((work for work in self._works.values() if work.site.owns(ce)), None)
