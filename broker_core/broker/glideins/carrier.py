"""Glideins at work: what their monitor decides is carried out at sites, and what these say is told to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from broker_core.broker.engine.engine import Engine
from broker_core.broker.glideins.link import GlideinLink
from broker_core.broker.glideins.order import (
    component_of,
    glidein_order,
    is_glidein,
    lifetime,
    needs_of,
)
from broker_core.broker.glideins.rows import SlotRows
from broker_core.broker.site_management.glidein_reports import Handover
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.jobs.attempt_events import (
    AttemptAccepted,
    AttemptEnded,
    AttemptFound,
    AttemptRefused,
    AttemptReport,
    AttemptStarted,
    AttemptWaits,
)
from broker_core.jobs.placement import Component, computing_element
from broker_core.jobs.record import JobRecord
from broker_core.reactor.effect_runner import Carrier
from broker_core.scheduling.effects import Cancel, Confirm, Submit
from broker_core.scheduling.slots import effects, messages
from broker_core.scheduling.slots.claim_life import ClaimState
from broker_core.scheduling.slots.monitor import GlideinMonitor
from broker_core.scheduling.slots.records import EndCause, Payload
from broker_core.scheduling.slots.rules import SlotUse, use_of
from broker_core.settings.glideins import GlideinSettings
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.glideins import ClaimControl, SlotClaim, glideins_of
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.glideins")
Control = effects.EndPayload | effects.SetPriority | effects.SuspendPayload | effects.ResumePayload
_AGAIN = 0.2
"""Seconds after which an attempt is tried again that waits for the end of another in a slot."""
_MOMENT = 30.0
"""Seconds after the end of a payload for which its slot is waited for."""


class GlideinCarrier:
    """Stands between the engine and the sites; see `GlideinReports` for what these need of it."""

    def __init__(
        self, engine: Engine, sites: SiteDispatcher, orders: LaunchOrders, settings: GlideinSettings
    ) -> None:
        self._engine, self._sites, self._orders, self._settings = engine, sites, orders, settings
        self._monitor = engine.core.part(GlideinMonitor)
        self._rows = SlotRows(self._monitor, engine.scheduler.cache, engine.post)
        self._links: dict[str, GlideinLink] = {}
        self._later: dict[str, asyncio.TimerHandle] = {}
        """Job to its next try to get a slot, while an earlier attempt of it is not over in its own."""
        self._marked: dict[str, tuple[int | None, float]] = {}
        """Claims whose payloads are over by their markers, not yet by their glideins: with the exit code, and
        when that was heard by the monotonic clock."""

    def carriers(self) -> dict[type, Carrier]:
        """Who carries out what the glidein monitor wants, and what the scheduler wants of sites."""
        return {
            Submit: self._submit,
            Confirm: self._confirm,
            Cancel: self._cancel,
            effects.StartGlidein: self._start,
            effects.StopGlidein: self._stop,
            effects.RenewLease: self._renew,
            effects.StartPayload: self._start_payload,
            effects.EndPayload: self._control,
            effects.SetPriority: self._control,
            effects.SuspendPayload: self._control,
            effects.ResumePayload: self._control,
            effects.LateGlideinMessage: lambda one: log.debug("Late of %s: %s", one.subject, one.message),
        }

    async def close(self) -> None:
        """Speak with no glidein any more; they go on."""
        self._rows.close()
        for timer in self._later.values():
            timer.cancel()
        for link in self._links.values():
            await link.close()

    # --- what the scheduler wants

    def _submit(self, effect: Submit) -> None:
        """Give a component to a slot, to a glidein of its own, or to its site."""
        component = effect.component
        if self._monitor.has(component):
            return  # after a restart: its glidein has it, or will get it
        if self._monitor.has_any(component):
            self._wait(effect)
            return
        use = self._use(effect)
        if use is None:
            self._sites.submit(effect)
            return
        payload = Payload(component, effect.record.owner, self._organization(component), use)
        if use is SlotUse.BATCH:
            self._engine.post(self._wanted(effect, payload))
        else:
            self._want_slot(effect, payload)

    def _wanted(self, effect: Submit, payload: Payload) -> messages.GlideinWanted:
        job = self._engine.scheduler.job(effect.component.job)
        if job is None:
            return messages.GlideinWanted(payload, effect.ce.id)
        description = job.demand.description
        most = self._rows.wall_limit(effect.ce.id)
        lasts = lifetime(description.wall_limit, most, self._settings)
        needs, seconds = needs_of(description, lasts), description.wall_limit or 0.0
        return messages.GlideinWanted(payload, effect.ce.id, needs, seconds, lasts)

    def _want_slot(self, effect: Submit, payload: Payload) -> None:
        ces, free = self._rows.ces_of(effect.ce.id), self._monitor.offers(payload)
        if not ces:
            reason = "no glidein is there any more"
            self._engine.post(AttemptRefused(effect.component, reason, counts=False))
        elif free.keys().isdisjoint(ces) and self._is_leaving():
            self._wait(effect)
        else:
            self._engine.post(messages.SlotsWanted((payload,), ces))
            self._rows.publish()

    def _is_leaving(self) -> bool:
        """A payload has just ended, and its slot is free in a moment."""
        self._end_marked()
        return any(now().monotonic - since < _MOMENT for _, since in self._marked.values())

    def _wait(self, effect: Submit) -> None:
        loop = asyncio.get_running_loop()
        self._later[effect.component.job] = loop.call_later(_AGAIN, self._try_again, effect)

    def _try_again(self, effect: Submit) -> None:
        """Hand a component over that waited for the end of another in a slot."""
        del self._later[effect.component.job]
        if self._record(effect.component) is not None:
            self._submit(effect)
        else:
            self._sites.submit(effect)  # which finds out what is to be told of it

    def _use(self, effect: Submit) -> SlotUse | None:
        """What kind of slot a component gets; None: it goes to its site as ever."""
        job = self._engine.scheduler.job(effect.component.job)
        if job is None:
            return None
        description = job.demand.description
        use = use_of(description.structure, description.needs)
        if effect.ce.system == self._rows.SYSTEM:
            return use if use is SlotUse.INTERACTIVE else None
        alone = use is SlotUse.BATCH and description.cpus == 1
        return use if alone and self._enabled(effect.ce.site) else None

    def _organization(self, component: Component) -> str:
        """Virtual organization that a job names; empty: none."""
        job = self._engine.scheduler.job(component.job)
        ad = None if job is None else job.demand.description.ad
        named = getattr(None if ad is None else ad.get("virtualorganisation"), "value", "")
        return named if isinstance(named, str) else ""

    def _enabled(self, site: str) -> bool:
        return site in self._settings.glideins and glideins_of(self._sites.sites.get(site)) is not None

    def _confirm(self, effect: Confirm) -> None:
        """What is in a slot started by itself."""
        if not self._monitor.has(effect.component):
            self._sites.confirm(effect)

    def _cancel(self, effect: Cancel) -> None:
        if self._monitor.has(effect.component):
            self._engine.post(messages.JobWithdrawn(effect.component.job, "its job was canceled"))
        self._sites.cancel(effect)

    # --- what the monitor wants of glideins

    def _start(self, effect: effects.StartGlidein) -> None:
        site = computing_element(effect.ce).site

        def refused(reason: str) -> None:
            self._engine.post(messages.GlideinRefused(effect.glidein, reason))

        if site not in self._sites.sites:
            refused(f"this broker does not know {site} any more")
            return
        order, taken = partial(self._order, effect.glidein), partial(self._taken, effect.glidein, site)
        self._sites.work(site).hand_over(Handover(order, taken, refused))

    async def _order(self, glidein: str) -> LaunchOrder | None:
        known = self._monitor.glidein(glidein)
        record = None if known is None else self._record(known[0].payload.component)
        if known is None or record is None:
            return None
        order = await self._orders.order(record)
        return glidein_order(order, glidein, known[0].lasts or None, self._settings)

    def _taken(self, glidein: str, site: str, site_id: str) -> None:
        """A site has a glidein, held: it is let go, or ended if nobody wants it any more."""
        known, work = self._monitor.glidein(glidein), self._sites.work(site)
        if known is None:
            work.cancel(component_of(glidein))
            return
        self._engine.post(messages.GlideinAccepted(glidein, site_id))
        self._engine.post(AttemptAccepted(known[0].payload.component, site_id))
        work.confirm(component_of(glidein))

    def _stop(self, effect: effects.StopGlidein) -> None:
        site = computing_element(effect.ce).site
        if site in self._sites.sites:
            self._sites.work(site).cancel(component_of(effect.glidein))
        self._end_marked()
        self._rows.publish()

    def _renew(self, effect: effects.RenewLease) -> None:
        if (link := self._link_of(effect.glidein)) is not None:
            link.renew(effect.glidein)

    # --- what it wants of payloads

    def _start_payload(self, effect: effects.StartPayload) -> None:
        glidein = self._monitor.glidein(effect.glidein)
        if glidein is None:
            return
        component = effect.payload.component

        def refused(reason: str) -> None:
            self._engine.post(messages.PayloadRefused(effect.claim, reason))

        def taken(site_id: str) -> None:
            self._engine.post(AttemptAccepted(component, site_id))
            self._link(site).wake()

        site = computing_element(glidein[0].ce).site
        if site in self._sites.sites:
            order = partial(self._payload_order, effect)
            self._sites.work(site).hand_over(Handover(order, taken, refused))

    async def _payload_order(self, effect: effects.StartPayload) -> LaunchOrder | None:
        claim, record = self._monitor.claim(effect.claim), self._record(effect.payload.component)
        if claim is None or claim[1] is not ClaimState.OFFERED or record is None:
            return None
        known = self._settings
        slot = SlotClaim(effect.glidein, effect.claim, effect.priority, known.slot_reads, known.slot_writes)
        return replace(await self._orders.order(record), slot=slot)

    def _control(self, effect: Control) -> None:
        """Have a glidein bring a payload to what the monitor wants of it now."""
        if (link := self._link_of(effect.glidein)) is None:
            return
        ends, known = isinstance(effect, effects.EndPayload), self._monitor.claim(effect.claim)
        if known is None:
            link.control(ClaimControl(effect.glidein, effect.claim, "", 0, ends))
            return
        claim, state = known
        tag, stops = claim.payload.component.tag, state is ClaimState.SUSPENDED
        link.control(ClaimControl(effect.glidein, claim.id, tag, claim.priority or 0, ends, stops))

    # --- what sites and glideins say

    def take(self, site: str, report: AttemptReport) -> bool:
        """See `GlideinReports.take`."""
        if not is_glidein(report.component):
            return isinstance(report, AttemptEnded) and self._payload_ended(site, report)
        glidein = report.component.job
        known = self._monitor.glidein(glidein)
        match report:
            case AttemptStarted():
                self._engine.post(messages.GlideinStarted(glidein))
                self._link(site).wake()
            case AttemptWaits() if known is not None:
                self._engine.post(replace(report, component=known[0].payload.component))
            case AttemptFound() if known is not None:
                self._sites.work(site).confirm(report.component)
            case AttemptEnded():
                self._engine.post(messages.GlideinGone(glidein, report.reason or "it ended"))
                self._end_marked()
                self._link(site).remove(glidein)
                self._sites.work(site).forget_soon([report.component])
                self._rows.publish()
        return True

    def _payload_ended(self, site: str, report: AttemptEnded) -> bool:
        """By its marker; a glidein that lives tells it too, when the last process is gone. True for what made
        room and did not end by itself: it runs again once the monitor says so, and that is all of it."""
        claim = self._monitor.claim(self._monitor.claim_of(report.component))
        if claim is None:
            return False
        made_room = claim[0].end_cause is EndCause.MADE_ROOM and report.failure == "killed"
        self._marked[claim[0].id] = None if made_room else report.exit_code, now().monotonic
        self._end_marked()
        self._link(site).wake()
        return made_room

    def _end_marked(self) -> None:
        """End the claims of lost glideins whose payloads are proved to be over."""
        for id, (exit_code, _) in list(self._marked.items()):
            claim = self._monitor.claim(id)
            if claim is None or claim[1] is ClaimState.IN_DOUBT:
                del self._marked[id]
            if claim is not None and claim[1] is ClaimState.IN_DOUBT:
                self._engine.post(messages.PayloadEnded(id, exit_code))

    def known(self, site: str) -> Sequence[Component]:
        """See `GlideinReports.known`."""
        return [component_of(one) for one in self._at(site)]

    def has(self, attempt: Component) -> bool:
        """See `GlideinReports.has`."""
        return self._monitor.has(attempt)

    # --- inside

    def _record(self, component: Component) -> JobRecord | None:
        """The record of a job that still wants this attempt."""
        job = self._engine.scheduler.job(component.job)
        if job is None or job.record.attempt != component.attempt or job.canceling:
            return None
        return job.record

    def _at(self, site: str) -> Mapping[str, str]:
        """Glideins of a site, with their states."""
        return {
            one.id: state
            for one, state in self._monitor.glideins()
            if computing_element(one.ce).site == site
        }

    def _link_of(self, glidein: str) -> GlideinLink | None:
        known = self._monitor.glidein(glidein)
        return None if known is None else self._link(computing_element(known[0].ce).site)

    def _link(self, site: str) -> GlideinLink:
        link = self._links.get(site)
        if link is None:
            link = self._links[site] = GlideinLink(
                lambda: self._sites.sites.get(site),
                lambda: self._at(site),
                self._engine.post,
                partial(self._rows.answered, site),
                self._settings.glidein_lost_after,
            )
        return link

    def start(self) -> None:
        """Speak with the glideins that a broker before this one left."""
        self._rows.expect()
        for one, _ in self._monitor.glideins():
            self._link(computing_element(one.ce).site).wake()
