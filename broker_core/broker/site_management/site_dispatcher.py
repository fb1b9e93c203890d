"""All sites of the broker: what the scheduler wants done is passed to the site whose it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.site_management.glidein_reports import GlideinReports, NoGlideins
from broker_core.broker.site_management.site_worker import SiteWorker
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.jobs.attempt_events import AttemptEnded, AttemptRefused
from broker_core.jobs.placement import Component, ComputingElement
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.effects import Cancel, Confirm, Submit
from broker_core.scheduling.live_job import AT_SITE
from broker_core.sites.contract import Site
from broker_core.sites.glideins import let_know
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.sites")
AT_ONCE = 32
"""Submissions to this machine that are under way at the same time."""
FAR_AT_ONCE = 1000
"""The same for other sites, which hand many over in one exchange."""


class SiteDispatcher:
    """Knows which computing element is whose."""

    def __init__(self, engine: Engine, orders: LaunchOrders, fail: FailPoints) -> None:
        self._engine = engine
        self._orders = orders
        self._fail = fail
        self._works: dict[str, SiteWorker] = {}
        self._orphans: set[str] = set()
        """Tags of attempts that may be at sites which are not known any more."""
        self.glideins: GlideinReports = NoGlideins()
        """Who hears what sites say of glideins; set before any of them begins work."""

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
        work = self._works[site.name] = SiteWorker(site, *shared, at_once, most)
        work.glideins = self.glideins
        let_know(site, lambda attempt: self.glideins.has(attempt))

    def work(self, name: str) -> SiteWorker:
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
        for work in self._works.values():
            work.glideins = self.glideins
        there: dict[str, list[JobRecord]] = {}
        for record in records:
            for name in {one.ce.site for one in record.placements} or {""}:
                there.setdefault(name, []).append(record)
        for name, work in list(self._works.items()):
            mine = there.pop(name, [])
            if work.site.holds:
                work.begin_soon(mine)
            else:
                await work.begin(mine)
        for name, strays in there.items():
            self._orphans.update(one.tag for record in strays for one in record.components_at(name))
        self._fail("after:sites.start")

    def begin(self, name: str, records: Sequence[JobRecord]) -> None:
        """Begin work at a site that was added, or changed, while the broker runs."""
        work = self._works[name]
        work.begin_soon(records)
        for record in records:
            if record.state is JobState.READY:
                for one in record.components_at(name):
                    work.submit(record, one)

    def link_changed(self, name: str) -> None:
        """The connection to a site is another one."""
        self._works[name].link_changed()

    def live_at(self, site: Site) -> list[JobRecord]:
        """Records of the jobs that have an attempt at a site."""
        records = (job.record for job in self._engine.scheduler.live())
        return [one for one in records if one.state in AT_SITE and _is_at(one, site)]

    def site_of(self, ce: ComputingElement) -> Site | None:
        """The site that has, or had, a computing element."""
        work = self._works.get(ce.site)
        return work.site if work else None

    def submit(self, effect: Submit) -> None:
        """Hand a component to its site; the answer is posted."""
        component, work = effect.component, self._works.get(effect.ce.site)
        if work is not None:
            work.submit(effect.record, component)
        elif component.tag not in self._orphans:
            reason = f"{effect.ce.id}: This broker does not know the resource any more"
            self._engine.post(AttemptRefused(component, reason, counts=False))

    def confirm(self, effect: Confirm) -> None:
        """Let a held component start at its site."""
        work = self._works.get(effect.ce.site)
        if work is not None:
            work.confirm(effect.component)

    def cancel(self, effect: Cancel) -> None:
        """End a component at its site; an end is reported by the site."""
        work = self._works.get(effect.ce.site)
        if work is not None:
            work.cancel(effect.component)
        else:
            self.give_up(effect.record)

    def give_up(self, record: JobRecord, *, is_ended: bool = False) -> None:
        """Settle the cancel of an attempt that nobody can reach any more; `is_ended`: it does not run on."""
        reason = f"{record.sites} is not among the sites any more" + (
            ": the job was ended there before" if is_ended else ": what may still run there was not ended"
        )
        gone = {one.ce.site for one in record.placements if one.ce.site not in self._works}
        for name in gone or {record.ce.site}:
            for one in record.components_at(name):
                self._engine.post(AttemptEnded(one, now().wall, failure="killed", reason=reason))

    async def forget(self, records: Sequence[JobRecord]) -> None:
        """Remove the files of ended jobs at all sites that they were at (purge)."""
        tried = {record.id for record in records if record.attempt > 1}
        for work in list(self._works.values()):  # sites may be added and removed meanwhile
            attempts = {
                Component(record.id, number, one.index)
                for record in records
                if _is_at(record, work.site)
                for one in record.components_at(work.site.name)
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


def _is_at(record: JobRecord, site: Site) -> bool:
    return any(one.ce.site == site.name for one in record.placements)
