"""Glideins and their virtual slots as they are shown (CB-UI-10), each user's own."""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.bookkeeping.store import Store
from broker_core.broker.api.dependencies import own_jobs
from broker_core.broker.glideins.slot_counts import SlotCounts
from broker_core.jobs.placement import computing_element
from broker_core.jobs.record import JobRecord
from broker_core.reactor.reactor import Now
from broker_core.scheduling.slots.claim_life import ClaimState
from broker_core.scheduling.slots.glidein_life import GlideinState
from broker_core.scheduling.slots.monitor import GlideinMonitor
from broker_core.scheduling.slots.records import Claim, Glidein
from broker_core.scheduling.slots.rules import PriorityControl, SlotRole
from broker_core.scheduling.slots.sharing import share_of_cpu
from broker_core.settings.glideins import GlideinSettings
from broker_core.system.clock import now
from broker_core.wire.slots import GlideinView, SlotsView, SlotView

Held = Mapping[SlotRole, tuple[Claim, ClaimState]]
"""What is in the slots of a glidein."""
Jobs = Mapping[str, JobRecord]
"""The caller's jobs among those in slots."""


class SlotViews:
    """Shows what the glidein monitor knows."""

    def __init__(
        self, store: Store, monitor: GlideinMonitor, counts: SlotCounts, settings: GlideinSettings
    ) -> None:
        self._store, self._monitor, self._counts, self._settings = store, monitor, counts, settings

    async def slots(self, owner: str) -> SlotsView:
        """The glideins that jobs of the caller caused or are in, and the last day of them."""
        seen = [
            (glidein, state, held)
            for glidein, state in self._monitor.glideins()
            if _concerns(owner, glidein, held := self._held(glidein))
        ]
        ids = {glidein.payload.component.job for glidein, _, _ in seen}
        ids |= {claim.payload.component.job for _, _, held in seen for claim, _ in held.values()}
        jobs, moment = await own_jobs(self._store, owner, sorted(ids)), now()
        return SlotsView(
            now=moment.wall,
            sites=sorted(self._settings.glideins),
            glideins=[self._glidein(*one, jobs, moment) for one in seen],
            history=self._counts.history(owner, moment.wall),
        )

    def _held(self, glidein: Glidein) -> Held:
        found = {role: self._monitor.claim(slot.claim) for role, slot in glidein.slots.items()}
        return {role: known for role, known in found.items() if known is not None}

    def _glidein(self, glidein: Glidein, state: str, held: Held, jobs: Jobs, moment: Now) -> GlideinView:
        since = moment.wall - (moment.monotonic - glidein.since)
        cause = jobs.get(glidein.payload.component.job)
        idle = state == GlideinState.IDLE
        return GlideinView(
            id=glidein.id,
            site=computing_element(glidein.ce).site,
            ce=glidein.ce,
            node=glidein.node,
            state=state,
            since=since,
            owner=glidein.payload.owner,
            vo=glidein.payload.vo,
            originator="" if cause is None else cause.id,
            originator_name="" if cause is None else cause.name,
            slots=[self._slot(glidein, role, held, jobs) for role in SlotRole],
            ends=since + self._settings.glidein_idle_exit if idle else None,
            boxed=glidein.box,
            restores=glidein.priorities is PriorityControl.BOTH_WAYS,
        )

    def _slot(self, glidein: Glidein, role: SlotRole, held: Held, jobs: Jobs) -> SlotView:
        slot = glidein.slots.get(role)
        state = None if slot is None else self._monitor.state_of(slot)
        shown = SlotView(role=role, state=state or "", line=0 if slot is None else len(slot.line))
        if role not in held:
            return shown
        claim, step = held[role]
        mine = jobs.get(claim.payload.component.job)
        if mine is not None:
            shown.job, shown.name = mine.id, mine.name
        shown.taken, shown.step, shown.priority = True, step, claim.priority
        others = [one for other, one in held.items() if other is not role]
        shown.share = _share(claim, step, others)
        return shown


def _share(claim: Claim, step: ClaimState, others: list[tuple[Claim, ClaimState]]) -> float | None:
    """Part of the CPU that a payload gets while all compute; one that is stopped computes nothing."""
    if step is ClaimState.SUSPENDED:
        return 0.0
    nices = [other.priority for other, at in others if at is not ClaimState.SUSPENDED]
    if claim.priority is None or None in nices:
        return None
    return share_of_cpu(claim.priority, [nice for nice in nices if nice is not None])


def _concerns(owner: str, glidein: Glidein, held: Held) -> bool:
    return glidein.payload.owner == owner or any(claim.payload.owner == owner for claim, _ in held.values())
