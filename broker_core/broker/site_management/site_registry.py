"""The sites as their owner manages them: added, changed, drained, removed while the broker runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.site_metrics import SAMPLE
from broker_core.broker.site_management.metrics_files import MetricsFiles
from broker_core.broker.site_management.network_monitor import NetworkMonitor
from broker_core.broker.site_management.node_facts import NodeFacts
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.site_management.site_limits import bounded, with_usual_waits
from broker_core.broker.site_management.site_specs import SiteSpecs, fixed_setting
from broker_core.errors import BadRequest, Conflict, CrossDeskError, NotFound, StorageFull
from broker_core.information.runner import Updaters
from broker_core.information.site_updater import LOCAL, SiteUpdater
from broker_core.jobs.placement import THIS_MACHINE, Component, ComputingElement
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.messages import CancelAsked, LinkChanged
from broker_core.sites.contract import LaunchOrder, RemoteSitePort, Site
from broker_core.sites.link import Link, LinkState
from broker_core.sites.outside import OutsideAccess
from broker_core.sites.remote.removed import RemovedSite
from broker_core.system.clock import now
from broker_core.wire.sites import SITE_KINDS, SiteSpec
from broker_core.wire.submission import WATCHED

log = logging.getLogger("crossdesk.sites")
LOOK_INTERVAL = 60.0
"""Seconds between two looks at the queues of a site."""
_FIRST_LOOK = 30.0
LAST_WORDS = 10.0
"""Seconds that a site gets to end the jobs of which its owner wants to be rid."""

Making = Callable[[SiteSpec, Path, str, Callable[[Link], None]], RemoteSitePort]
"""Makes a site of its settings, its folder here, its mark, and who is told of its link."""


class SiteRegistry:
    """Keeps settings, sites, their sources of information and their calls in step."""

    def __init__(
        self, specs: SiteSpecs, calls: SiteDispatcher, engine: Engine, local: Site, making: Making
    ) -> None:
        self._files = specs
        self._calls = calls
        self._engine = engine
        self._making = making
        self._updaters: Updaters | None = None
        self._far: dict[str, RemoteSitePort] = {}
        self._sampling: asyncio.TimerHandle | None = None
        self._network = NetworkMonitor(lambda: self._hurry(lambda _: True))
        self._turn = asyncio.Lock()
        self._leaving: set[str] = set()
        """Sites that are being removed: they get no jobs any more."""
        self.specs: dict[str, SiteSpec] = {LOCAL: SiteSpec(name=LOCAL, kind=LOCAL)}
        """Name to settings."""
        calls.add(local, far=False)
        for spec in specs.all():
            self._restore(spec)
        self._figures = MetricsFiles(specs.of)
        self.nodes = NodeFacts(specs.of, engine, calls)
        for name in self.specs:
            self._figures.restore(engine.figures, name, now().wall)

    def connect(self, updaters: Updaters) -> None:
        """Feed the Resource Cache from every site once it is connected, and begin the histories."""
        self._updaters = updaters
        for name in self.specs:
            self._tell(name)
        self._network.open()
        self._sample()

    def close(self) -> None:
        """Sample and listen no more, and keep the figures of the sites."""
        self._network.close()
        if self._sampling is not None:
            self._sampling.cancel()
        self._figures.keep(self._engine.figures, self._calls.sites, now().wall)

    def spec(self, name: str) -> SiteSpec:
        """Settings of a site; raises NotFound."""
        if name not in self.specs:
            known = ", ".join(sorted(self.specs))
            raise NotFound("There is no site of this name.", place=name, remedy=f"There are: {known}.")
        return self.specs[name]

    def link(self, name: str) -> Link:
        """Connection of a site; raises NotFound."""
        self.spec(name)
        return self._calls.sites[name].link

    def outside(self, name: str) -> OutsideAccess | None:
        """How a site is asked for jobs that are not the broker's; None: they are not shown there."""
        site = self._far.get(name)
        return None if site is None or name in self._leaving else site.outside

    def marks(self) -> list[str]:
        """The marks of this broker's jobs at all of its sites: several may be one cluster."""
        return [self._files.mark(name) for name in self._far]

    def removed(self, ce: ComputingElement) -> RemovedSite | None:
        """What is left of the site of a computing element that is not known any more."""
        return None if self._calls.site_of(ce) else RemovedSite.at(self._files.of(ce.site))

    async def forget(self, records: Sequence[JobRecord]) -> None:
        """Remove the files of ended jobs, at sites that were removed too (purge)."""
        await self._calls.forget(records)
        for record in records:
            left = self.removed(record.ce) if record.placements else None
            if left is not None:
                await left.forget([Component(record.id, number) for number in range(1, record.attempt + 1)])

    # --- settings

    async def add(self, spec: SiteSpec) -> None:
        """Add a site and begin work there; raises Conflict, BadRequest or StorageFull, nothing kept then."""
        self._acceptable(spec)
        if spec.name == THIS_MACHINE:
            raise BadRequest(
                "No site can be called so: it is the name of this machine itself.",
                place=spec.name,
                remedy="Choose another name.",
            )
        if spec.name in self.specs or (self._updaters is not None and spec.name in self._updaters.names):
            raise Conflict(
                "There is a site or a source of information of this name already.",
                place=spec.name,
                remedy="Choose another name, or change that one.",
            )
        site = self._make(spec)
        try:
            self._files.keep(spec)
        except BaseException:
            del self._far[spec.name]
            await self._calls.remove(spec.name)
            raise
        self.specs[spec.name] = spec
        self._begin(site)
        log.info("The site %s (%s) was added", spec.name, spec.kind)

    async def change(self, spec: SiteSpec) -> None:
        """Use other settings for a site; its jobs are found again by them. Raises Conflict, StorageFull."""
        async with self._turn:
            self._stays(spec.name)
            self._changeable(self.spec(spec.name), spec)
            self._files.keep(spec)
            self.specs[spec.name] = spec
            await self._renew(spec)

    async def _renew(self, spec: SiteSpec) -> None:
        """Begin anew with the settings of a site."""
        if self._updaters is not None:
            await self._updaters.remove(spec.name)
        before = self._calls.work(spec.name)
        # Known under its name all the time: whatever is asked meanwhile waits for the new one.
        site = self._make(spec)
        await before.close()
        self._begin(site)

    def _changeable(self, before: SiteSpec, spec: SiteSpec) -> None:
        self._acceptable(spec)
        if before.kind != spec.kind:
            raise Conflict(
                "The kind of a site cannot be changed: its jobs would not be found again.",
                place=spec.name,
                remedy="Add another site.",
            )
        fixed = fixed_setting(before, spec)
        if fixed is not None and self._calls.live_at(self._far[spec.name]):
            what, why = fixed
            raise Conflict(
                f"The {what} of a site cannot be changed while jobs are there: {why}.",
                place=spec.name,
                remedy="Drain the site and let them end first.",
            )

    async def drain(self, name: str, drained: bool) -> None:
        """Send no new jobs to a site, or send them again; kept over a restart."""
        spec = self.spec(name).model_copy(update={"drained": drained})
        self._files.keep(spec)
        self.specs[name] = spec
        self._tell(name)

    def is_leaving(self, name: str) -> bool:
        """True while a site is being removed."""
        return name in self._leaving

    async def remove(self, name: str, *, force: bool) -> str:
        """Forget a site; raises Conflict while jobs are there, unless `force`: then they are canceled.

        Returns what is left at the site, in words with place and remedy, or nothing: a silent one runs on
        what it has, and the stories of its jobs say so.
        """
        self._stays(name)
        if name == LOCAL:
            raise Conflict("This machine cannot be removed.", place=name, remedy="Drain it instead.")
        self._leaving.add(name)
        self._tell(name)
        try:
            left = await self._remove(name, force)
        finally:
            self._leaving.discard(name)
            if name in self.specs:
                self._tell(name)
        self._engine.stream.topics.sites_changed()
        log.info("The site %s was removed. %s", name, left)
        return left

    def _stays(self, name: str) -> None:
        """Raises NotFound, and Conflict for a site that is being removed."""
        self.spec(name)
        if name in self._leaving:
            raise Conflict("The site is being removed.", place=name, remedy="Wait until it is gone.")

    async def _remove(self, name: str, force: bool) -> str:
        there = self._calls.live_at(self._far[name])
        if there and not force:
            jobs = "1 job is" if len(there) == 1 else f"{len(there)} jobs are"
            raise Conflict(
                f"{jobs} at this site.",
                place=name,
                code="jobs_at_site",
                remedy="Drain it and let them end, or remove it by force: then they are canceled.",
            )
        await self._end(name, there)
        async with self._turn:
            if self._updaters is not None:
                await self._updaters.remove(name)
        # Not in the turn of the others, since it takes a silent site a while; known until it is over.
        left = await self._far[name].leave()
        async with self._turn:
            try:
                self._files.forget(name)
            except StorageFull:
                await self._renew(self.specs[name])
                raise
            self._figures.forget(name)
            self.nodes.forget(name)
            del self._far[name], self.specs[name]
            await self._calls.remove(name)
        for record in self._live(there):
            self._calls.give_up(record, is_ended=not left)
        return left

    # --- the connection

    def answer(self, name: str, question: str, value: str) -> None:
        """Pass the user's answer on; raises Conflict where nothing, or something else, is asked."""
        asked = self.link(name).question
        if asked is None or asked.id != question:
            raise Conflict("This is not asked any more.", place=name, remedy="Look at the site again.")
        self._far[name].answer(question, value)

    def retry(self, name: str) -> None:
        """Try to connect now."""
        self.spec(name)
        if name in self._far:
            self._far[name].connect_now()
        if self._updaters is not None:
            self._updaters.ask(name)

    def watch(self, records: Iterable[JobRecord]) -> None:
        """Somebody looks at these jobs for a while; said again while he does."""
        for record in records:
            if record.placements and (site := self._far.get(record.ce.site)) is not None:
                site.watch([record.component], WATCHED)

    async def fit(self, name: str) -> None:
        """Raises Conflict for a site that takes no jobs, or answers and cannot be used; one just added is
        looked at first."""
        link = self.link(name)
        if self.specs[name].drained:
            raise Conflict(
                "The site is drained, so it takes no jobs.",
                place=name,
                remedy=f"Let it take jobs again first: crossdesk site resume {name}",
                code="site_drained",
            )
        if self._updaters is not None and name in self._updaters.names and link.state is LinkState.CONNECTED:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FIRST_LOOK):
                    await self._updaters.refresh((name,))
        if link.trouble:
            raise Conflict(link.trouble, place=name, code="site_unusable")

    async def forecast(self, order: LaunchOrder) -> float | None:
        """See `RemoteSitePort.forecast`; this machine says nothing."""
        site = self._far.get(order.ce.site)
        return None if site is None else await site.forecast(order)

    # --- inside

    @staticmethod
    def _acceptable(spec: SiteSpec) -> None:
        if spec.kind not in SITE_KINDS or spec.kind == LOCAL:
            kinds = ", ".join(kind for kind in SITE_KINDS if kind != LOCAL)
            raise BadRequest(
                f"There is no kind of site {spec.kind!r}.", place=spec.name, remedy=f"Use {kinds}."
            )

    def _restore(self, spec: SiteSpec) -> None:
        """Take a site over from the last run; one that cannot be made must not hinder the broker."""
        try:
            if spec.name != LOCAL:
                self._acceptable(spec)
                self._make(spec)
        except CrossDeskError as error:
            log.error("The site %s is left out: %s", spec.name, error)
            return
        self.specs[spec.name] = spec

    def _make(self, spec: SiteSpec) -> RemoteSitePort:
        site = self._making(
            spec, self._files.of(spec.name), self._files.mark(spec.name), lambda _: self._heard(spec.name)
        )
        self._far[spec.name] = site
        self._calls.add(site, most=spec.max_jobs)
        return site

    def _begin(self, site: RemoteSitePort) -> None:
        self._tell(site.name)
        records = self._calls.live_at(site)
        self._calls.begin(site.name, records)

    def _inform(self, name: str) -> None:
        """Ask a site that is connected what it is like, now and from now on."""
        updaters, spec = self._updaters, self.specs[name]
        if updaters is None or name in self._leaving:
            return
        if name in updaters.names:
            updaters.ask(name)
        else:
            address = spec.url or spec.host
            site = self._far[name]
            figures = self._engine.figures
            look = self.nodes.joined(site.look, name, spec.kind)
            look = with_usual_waits(look, lambda ce: figures.usual_wait(ce, now().wall))
            look = bounded(look, spec.max_jobs)
            updaters.add(SiteUpdater(look, name, LOOK_INTERVAL, spec.kind, address, site.renew))

    def _heard(self, name: str) -> None:
        """The connection to a site is another one."""
        if name not in self._calls.sites or name not in self.specs:
            return
        self._tell(name)
        self._calls.link_changed(name)
        if self.link(name).state is LinkState.CONNECTED:
            self._inform(name)
            self._hurry(lambda link: not link.way.isdisjoint(self.link(name).way))

    def _hurry(self, concerns: Callable[[Link], bool]) -> None:
        """Let sites that wait for their next try do it now: their host or the network is there again."""
        for site in self._far.values():
            if concerns(site.link):
                site.hurry()

    def _tell(self, name: str) -> None:
        """Let the scheduler and all followers know how a site is connected."""
        link, spec = self.link(name), self.specs[name]
        drained = spec.drained
        state = "unusable" if link.trouble and link.state is LinkState.CONNECTED else link.state.value
        reason = link.reason or link.trouble
        if name in self._leaving:
            drained, state, reason = True, "drained", "it is being removed"
        elif drained:
            state, reason = "drained", f"`crossdesk site resume {name}` lets it take jobs again"
        self._engine.post(LinkChanged(name, state, reason, link.usable and not drained, spec.max_jobs))
        self._engine.stream.topics.sites_changed()

    async def _end(self, name: str, there: Sequence[JobRecord]) -> None:
        """Cancel jobs, and wait a moment for their ends where the site can be asked."""
        for record in there:
            self._engine.post(CancelAsked(record.id))
        for _ in range(int(LAST_WORDS / 0.1)):
            if not self._live(there) or not self.link(name).usable:
                return
            await asyncio.sleep(0.1)

    def _live(self, records: Sequence[JobRecord]) -> list[JobRecord]:
        jobs = (self._engine.scheduler.job(record.id) for record in records)
        return [job.record for job in jobs if job is not None and job.record.state is not JobState.WAITING]

    def _sample(self) -> None:
        figures, moment, names = self._engine.figures, now().wall, self._calls.sites
        figures.sample(moment, names)
        self._figures.keep_soon(figures, names, moment)
        if self._updaters is not None and (tested := self.nodes.tested(self.specs)):
            self._updaters.ask(*tested)
        self._sampling = asyncio.get_running_loop().call_later(SAMPLE, self._sample)
