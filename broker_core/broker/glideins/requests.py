"""What is asked of glideins for a component: the kind of slot that it gets, and the machine that it needs."""

from __future__ import annotations

from dataclasses import replace

from broker_core.broker.engine.engine import Engine
from broker_core.broker.glideins.order import lifetime, needs_of
from broker_core.broker.glideins.rows import SlotRows
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.jobs.placement import ComputingElement, computing_element
from broker_core.launching.orders import OVERLAY
from broker_core.scheduling.effects import Submit
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.slots.messages import GlideinWanted
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import SlotUse, use_of
from broker_core.settings.glideins import GlideinSettings
from broker_core.sites.glideins import glideins_of


class GlideinRequests:
    """Makes them of what the scheduler submits."""

    def __init__(
        self, engine: Engine, sites: SiteDispatcher, settings: GlideinSettings, rows: SlotRows
    ) -> None:
        self._engine, self._sites, self._settings, self._rows = engine, sites, settings, rows

    def payload(self, effect: Submit) -> Payload | None:
        """What a component is in a slot; None: it goes to its site as ever."""
        job = self._engine.scheduler.job(effect.component.job)
        use = None if job is None else self._use(effect, job)
        if job is None or use is None:
            return None
        return Payload(effect.component, effect.record.owner, _organization(job), use)

    def together(self, effect: Submit, payload: Payload) -> tuple[Payload, ...]:
        """The payloads of all components of an attempt that are in the same slots, by index: they get theirs
        together or not at all."""
        return tuple(
            replace(payload, component=replace(payload.component, index=index))
            for index, one in enumerate(effect.record.placements)
            if one.ce == effect.ce
        )

    def glidein(self, effect: Submit, payload: Payload) -> GlideinWanted:
        """The glidein of a batch job."""
        job = self._engine.scheduler.job(effect.component.job)
        if job is None:
            return GlideinWanted(payload, effect.ce.id)
        description = job.demand.description
        most = self._rows.wall_limit(effect.ce.id)
        lasts = lifetime(description.wall_limit, most, self._settings)
        needs, seconds = needs_of(description, lasts), description.wall_limit or 0.0
        others = self._others(job, effect.ce) if payload.use is SlotUse.BATCH else ()
        return GlideinWanted(payload, effect.ce.id, needs, seconds, lasts, others)

    def _others(self, job: LiveJob, ce: ComputingElement) -> tuple[str, ...]:
        """Other queues of the same site that could run a job, and did not fail it."""
        known = map(computing_element, self._engine.scheduler.able(job))
        here = [one.id for one in known if one.site == ce.site and one.system != self._rows.SYSTEM]
        return tuple(one for one in here if one != ce.id and one not in job.excluded)

    def _use(self, effect: Submit, job: LiveJob) -> SlotUse | None:
        description = job.demand.description
        use = use_of(description.structure, description.needs)
        if effect.ce.system == self._rows.SYSTEM:
            return use if use is SlotUse.INTERACTIVE else None
        # What carries packets of a component makes a network namespace, which is not to be had in a box.
        fits = job.placements[effect.component.index].cpus == 1 and description.mpi != OVERLAY
        return use if fits and use is not SlotUse.INTERACTIVE and self._enabled(effect.ce.site) else None

    def _enabled(self, site: str) -> bool:
        return site in self._settings.glideins and glideins_of(self._sites.sites.get(site)) is not None


def _organization(job: LiveJob) -> str:
    """Virtual organization that a job names; empty: none."""
    ad = job.demand.description.ad
    named = getattr(None if ad is None else ad.get("virtualorganisation"), "value", "")
    return named if isinstance(named, str) else ""
