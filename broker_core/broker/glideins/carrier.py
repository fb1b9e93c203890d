"""Glideins at work: what their monitor decides is carried out at sites, and what these say is told to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from broker_core.broker.engine.engine import Engine
from broker_core.broker.glideins.agents_ahead import AgentsAhead
from broker_core.broker.glideins.link import GlideinLink
from broker_core.broker.glideins.order import (
    component_of,
    glidein_order,
    is_glidein,
)
from broker_core.broker.glideins.requests import GlideinRequests
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
from broker_core.jobs.states import JobState
from broker_core.reactor.effect_runner import Carrier
from broker_core.scheduling.coallocation.messages import ReleaseBarrier
from broker_core.scheduling.effects import Cancel, Confirm, Submit
from broker_core.scheduling.slots import effects, messages
from broker_core.scheduling.slots.claim_life import ClaimState
from broker_core.scheduling.slots.monitor import GlideinMonitor
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import SlotUse
from broker_core.settings.glideins import GlideinSettings
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.glideins import ClaimControl, ClaimMode, SlotClaim
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.glideins")
Control = (
    effects.EndPayload | effects.RecallPayload | effects.SetPriority | effects.SuspendPayload
    | effects.ResumePayload
)  # fmt: skip
_MODES = {effects.EndPayload: ClaimMode.END, effects.RecallPayload: ClaimMode.BACK}
"""What is said whatever the state of the claim."""
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
        self._requests = GlideinRequests(engine, sites, settings, self._rows)
        self._ahead = AgentsAhead(sites, orders.frozen_agent)
        self._links: dict[str, GlideinLink] = {}
        self._later: dict[str, asyncio.TimerHandle] = {}
        """Tag to its next try to get a slot, while an earlier attempt of it is not over in its own."""
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
            effects.RecallPayload: self._control,
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
        await self._ahead.close()

    # --- what the scheduler wants

    def _submit(self, effect: Submit) -> None:
        """Give a component to a slot, to a glidein of its own, or to its site."""
        component = effect.component
        if self._monitor.has(component):
            return  # after a restart: its glidein has it, or will get it
        if self._monitor.has_any(component):
            self._wait(effect)
            return
        payload = self._requests.payload(effect)
        if payload is None:
            self._sites.submit(effect)
        elif payload.use.activates:
            self._engine.post(self._requests.glidein(effect, payload))
        else:
            self._want_slot(effect, payload)

    def _want_slot(self, effect: Submit, payload: Payload) -> None:
        """For all components of an attempt at once, with the first of them."""
        payloads = self._requests.together(effect, payload)
        if payloads[0] != payload:
            return
        ces, free = self._rows.ces_of(effect.ce.id), self._monitor.offers(payload)
        enough = sum(free.get(ce, 0) for ce in ces) >= len(payloads)
        if not ces:
            for one in payloads:
                reason = "no glidein is there any more"
                self._engine.post(AttemptRefused(one.component, reason, counts=False))
        elif any(self._monitor.has_any(one.component) for one in payloads) or (
            not enough and self._is_leaving()
        ):
            self._wait(effect)
        else:
            self._engine.post(messages.SlotsWanted(payloads, ces))
            self._rows.publish()

    def _is_leaving(self) -> bool:
        """A payload has just ended, and its slot is free in a moment."""
        self._end_marked()
        return any(now().monotonic - since < _MOMENT for _, since in self._marked.values())

    def _wait(self, effect: Submit) -> None:
        loop = asyncio.get_running_loop()
        self._later[effect.component.tag] = loop.call_later(_AGAIN, self._try_again, effect)

    def _try_again(self, effect: Submit) -> None:
        """Hand a component over that waited for the end of another in a slot."""
        del self._later[effect.component.tag]
        if self._record(effect.component) is not None:
            self._submit(effect)
        else:
            self._sites.submit(effect)  # which finds out what is to be told of it

    def _confirm(self, effect: Confirm) -> None:
        """What is in a slot started by itself, but for a component of several: its glidein is held."""
        if not self._monitor.has(effect.component):
            self._sites.confirm(effect)
            return
        for glidein, _ in self._monitor.glideins():
            if glidein.payload.component == effect.component and _is_held(glidein.payload):
                self._sites.work(effect.ce.site).confirm(component_of(glidein.id))

    def released(self, effect: ReleaseBarrier) -> None:
        """All components of a job are there, and those in slots run."""
        self._engine.post(messages.ApplicationReleased(effect.job))

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
        if known is None:
            return None
        record = self._record(known[0].payload.component)
        if record is None:
            self._engine.post(messages.GlideinRefused(glidein, "its job does not want it any more"))
            return None
        order = await self._order_of(record, known[0].payload.component)
        agent = await self._orders.frozen_agent()
        return glidein_order(order, glidein, known[0].lasts or None, self._settings, agent)

    def _taken(self, glidein: str, site: str, site_id: str) -> None:
        """A site has a glidein, held: it is let go, or ended if nobody wants it any more."""
        known, work = self._monitor.glidein(glidein), self._sites.work(site)
        if known is None:
            work.cancel(component_of(glidein))
            return
        payload = known[0].payload
        self._engine.post(messages.GlideinAccepted(glidein, site_id))
        self._engine.post(AttemptAccepted(payload.component, site_id, held=_is_held(payload)))
        if not _is_held(payload):
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
            self._link(site).ask_soon()

        site = computing_element(glidein[0].ce).site
        if site in self._sites.sites:
            order = partial(self._payload_order, effect)
            self._sites.work(site).hand_over(Handover(order, taken, refused))

    async def _payload_order(self, effect: effects.StartPayload) -> LaunchOrder | None:
        claim, record = self._monitor.claim(effect.claim), self._record(effect.payload.component)
        if claim is None or claim[1] is not ClaimState.OFFERED or record is None:
            return None
        known = self._settings
        paths = known.slot_reads, known.slot_writes
        slot = SlotClaim(effect.glidein, effect.claim, effect.priority, effect.after, *paths)
        return replace(await self._order_of(record, effect.payload.component), slot=slot)

    async def _order_of(self, record: JobRecord, component: Component) -> LaunchOrder:
        job = self._engine.scheduler.job(record.id)
        placements = record.placements if job is None else job.placements
        return await self._orders.of(record, component, placements)

    def _control(self, effect: Control) -> None:
        """Have a glidein bring a payload to what the monitor wants of it now."""
        if (link := self._link_of(effect.glidein)) is None:
            return
        known, mode = self._monitor.claim(effect.claim), _MODES.get(type(effect), ClaimMode.RUN)
        if known is None:
            link.control(ClaimControl(effect.glidein, effect.claim, "", 0, mode))
            return
        claim, state = known
        if mode is ClaimMode.RUN and state is ClaimState.SUSPENDED:
            mode = ClaimMode.STOP
        tag, nice = claim.payload.component.tag, claim.priority or 0
        link.control(ClaimControl(effect.glidein, claim.id, tag, nice, mode, self._monitor.ahead(claim)))

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
            case AttemptFound() if known is not None and _is_held(known[0].payload):
                found = known[0].payload.component
                self._engine.post(AttemptAccepted(found, report.site_id, held=True))
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
        cause = claim[0].end_cause
        goes_back = cause is not None and cause.blameless and report.failure == "killed"
        self._marked[claim[0].id] = None if goes_back else report.exit_code, now().monotonic
        self._end_marked()
        self._link(site).ask_soon()
        return goes_back

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

    def _answered(self, site: str) -> None:
        self._rows.answered(site)
        if self._links[site].is_settled:
            self._ahead.bring(site)

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
                partial(self._answered, site),
                self._settings.glidein_lost_after,
            )
        return link

    def start(self) -> None:
        """Speak with the glideins that a broker before this one left."""
        self._rows.expect()
        for one, _ in self._monitor.glideins():
            self._link(computing_element(one.ce).site).wake()
            job = self._engine.scheduler.job(one.payload.component.job)
            if _is_held(one.payload) and job is not None and job.record.state is JobState.RUNNING:
                self._engine.post(messages.ApplicationReleased(job.id))


def _is_held(payload: Payload) -> bool:
    """True for what is not to begin before all components of its job are at their sites."""
    return payload.use is SlotUse.INTER_CLUSTER
