"""Makes claims of slots and follows them to their end (CB-GLI-05 to 08, reliability case 18)."""

from __future__ import annotations

from broker_core.scheduling.slots.claim_life import AT_WORK, ClaimEvent, ClaimState
from broker_core.scheduling.slots.effects import (
    EndPayload,
    PayloadInDoubt,
    PayloadLost,
    PayloadOver,
    PayloadReturned,
    PayloadRuns,
    ResumePayload,
    SlotOpened,
    SlotsClaimed,
    SlotsRefused,
    StartPayload,
    StopGlidein,
    SuspendPayload,
)
from broker_core.scheduling.slots.glidein_life import GlideinEvent
from broker_core.scheduling.slots.messages import (
    ApplicationReleased,
    GlideinWanted,
    PayloadEnded,
    PayloadRefused,
    PayloadStarted,
    SlotsWanted,
)
from broker_core.scheduling.slots.pool import SlotPool, key_of
from broker_core.scheduling.slots.records import Claim, EndCause, Glidein, Payload, Slot
from broker_core.scheduling.slots.reuse import free_glidein, next_in_line
from broker_core.scheduling.slots.rules import OnRelease, SlotRole, SlotUse
from broker_core.scheduling.slots.settling import REASONS, end, settle
from broker_core.scheduling.slots.sharing import priority_in_slot1
from broker_core.scheduling.slots.slot_life import SlotEvent, SlotState

_BACK = frozenset({EndCause.MADE_ROOM, EndCause.FORGOTTEN})
"""What was ended for one of these is to run again."""


class Claims:
    """The part of the monitor that gives slots to payloads."""

    def __init__(self, pool: SlotPool) -> None:
        self._pool = pool

    # --- choosing

    def wanted(self, message: SlotsWanted) -> None:
        """Give each payload a slot, or none of them any."""
        pool, chosen = self._pool, list[Slot]()
        if any(self._busy(payload) for payload in message.payloads):
            reason = "the job is in a slot already, or may still be"
            pool.emit(SlotsRefused(message.payloads, reason))
            return
        for payload in message.payloads:
            free = [slot for slot in self.offers(payload, message.ces) if slot not in chosen]
            if not free:
                reason = f"no {payload.use.role.value} of its organization is free now"
                pool.emit(SlotsRefused(message.payloads, reason))
                return
            chosen.append(free[0])
        pairs = zip(message.payloads, chosen, strict=True)
        claims = tuple(self.make(pool.glideins[slot.glidein], payload) for payload, slot in pairs)
        pool.emit(SlotsClaimed(message.payloads, claims))

    def offers(self, payload: Payload, ces: tuple[str, ...] = ()) -> list[Slot]:
        """The slots that a payload could have now, best first: by the order of the computing elements, then
        machines that it shares with nobody."""
        pool = self._pool
        found = [
            (
                ces.index(glidein.ce) if ces else 0,
                pool.taken(glidein),
                number,
                glidein.slots[payload.use.role],
            )
            for number, glidein in enumerate(pool.glideins.values())
            if (not ces or glidein.ce in ces) and self._may_have(glidein, payload)
        ]
        return [slot for *_, slot in sorted(found, key=lambda one: one[:3])]

    def _may_have(self, glidein: Glidein, payload: Payload) -> bool:
        slot = glidein.slots.get(payload.use.role)
        if slot is None or self._pool.state_of_slot(slot) is not SlotState.FREE:
            return False
        return glidein.admits(payload) and not (payload.use is SlotUse.BATCH and self._needs_all(glidein))

    def _needs_all(self, glidein: Glidein) -> bool:
        """True beside a job that has started, if batch jobs make room for it."""
        other = self._pool.claim_in(glidein, SlotRole.SLOT2)
        if other is None or self._pool.rules.beside(other.payload.use) is OnRelease.LOW_PRIORITY:
            return False
        return self._pool.state_of_claim(other.id) in (ClaimState.RUNNING, ClaimState.ENDING)

    def _busy(self, payload: Payload) -> bool:
        key = key_of(payload.component)
        return key in self._pool.active or key in self._pool.originators

    def make(self, glidein: Glidein, payload: Payload) -> str:
        """Claim a slot that is free, or reserved for the payload; returns the id of the claim."""
        pool, slot = self._pool, glidein.slots[payload.use.role]
        claim = Claim(pool.new_id(), payload, glidein.id, slot.id)
        pool.claims[claim.id] = claim
        pool.active[key_of(payload.component)] = slot.claim = claim.id
        details = {**payload.as_details(), "glidein": glidein.id, "slot": slot.id}
        pool.step_claim(claim, ClaimEvent.MADE, details=details)
        pool.step_slot(slot, glidein.payload.owner, SlotEvent.CLAIMED, {"claim": claim.id})
        self._start(glidein, claim)
        settle(pool, glidein)
        return claim.id

    def _start(self, glidein: Glidein, claim: Claim) -> None:
        rules, use = self._pool.rules, claim.payload.use
        claim.priority = rules.interactive_priority
        if use is SlotUse.BATCH:
            shared = self._pool.claim_in(glidein, SlotRole.SLOT2) is not None
            claim.priority = priority_in_slot1(rules, glidein.priorities, shared)
        self._pool.emit(StartPayload(glidein.id, claim.id, use.role, claim.payload, claim.priority))

    # --- following

    def started(self, message: PayloadStarted) -> None:
        """A payload runs, or waits for the other components of its job."""
        pool = self._pool
        claim, state = pool.claims.get(message.claim), pool.state_of_claim(message.claim)
        if claim is None or state is not ClaimState.OFFERED:
            if state not in AT_WORK:
                pool.late(message.claim, message.name)
            return
        waits = claim.payload.use is SlotUse.INTER_CLUSTER
        pool.step_claim(claim, ClaimEvent.GATHERED if waits else ClaimEvent.STARTED)
        pool.emit(PayloadRuns(claim.payload))
        settle(pool, pool.glideins[claim.glidein])

    def released(self, message: ApplicationReleased) -> None:
        """All components are there: each runs, and the batch jobs beside them are dealt with."""
        for claim in self._pool.of_job(message.job):
            if self._pool.state_of_claim(claim.id) is ClaimState.GATHERING:
                self._pool.step_claim(claim, ClaimEvent.STARTED)
                settle(self._pool, self._pool.glideins[claim.glidein])

    def refused(self, message: PayloadRefused) -> None:
        """A payload never started, and never will."""
        pool = self._pool
        claim, state = pool.claims.get(message.claim), pool.state_of_claim(message.claim)
        if claim is None or state not in (ClaimState.OFFERED, ClaimState.ENDING, ClaimState.IN_DOUBT):
            pool.late(message.claim, message.name)
            return
        pool.step_claim(claim, ClaimEvent.REFUSED, message.reason)
        if (glidein := pool.glideins.get(claim.glidein)) is not None:
            glidein.closed = True
        self._over(claim)
        pool.emit(PayloadReturned(claim.payload, message.reason))

    def ended(self, message: PayloadEnded) -> None:
        """A payload is over; also one in doubt, whose end was proved before its lease ended."""
        pool, claim = self._pool, self._pool.claims.get(message.claim)
        if claim is None:
            pool.late(message.claim, message.name)
            return
        pool.step_claim(claim, ClaimEvent.ENDED, message.reason, {"exit_code": message.exit_code})
        self._over(claim)
        if message.exit_code is None and claim.end_cause in _BACK:
            reason = message.reason or REASONS[claim.end_cause]
            made_room = claim.end_cause is EndCause.MADE_ROOM
            pool.emit(PayloadReturned(claim.payload, reason, made_room))
        else:
            pool.emit(PayloadOver(claim.payload, message.exit_code, message.reason))

    def reuse(self, wanted: GlideinWanted) -> bool:
        """Give a batch job the slot of a glidein that is there already; False if there is none."""
        glidein = free_glidein(self._pool, wanted)
        if glidein is None or not self._may_have(glidein, wanted.payload):
            return False
        self.make(glidein, wanted.payload)
        return True

    def _take_next(self, glidein: Glidein) -> bool:
        """Give a free slot1 to a batch job whose own glidein still waits at the site, and goes."""
        other = next_in_line(self._pool, glidein)
        if other is None or not self._may_have(glidein, other.payload):
            return False
        reason = "its job runs in a glidein that was free"
        self._pool.step_glidein(other, GlideinEvent.WITHDRAWN, reason)
        self._pool.emit(StopGlidein(other.id, other.ce, reason))
        self.make(glidein, other.payload)
        return True

    def _over(self, claim: Claim) -> None:
        """Free the slot of a claim; it may be closed already."""
        pool, slot = self._pool, self._pool.slots.get(claim.slot)
        if slot is None:
            return
        glidein = pool.glideins[claim.glidein]
        slot.claim = ""
        pool.step_slot(slot, glidein.payload.owner, SlotEvent.FREED, {"claim": ""})
        if pool.is_originator(claim.payload, glidein.id):
            del pool.originators[key_of(claim.payload.component)]
        if slot.role is not SlotRole.SLOT1 or not self._take_next(glidein):
            pool.emit(SlotOpened(glidein.ce, glidein.payload.vo, slot.role))
            settle(pool, glidein)

    def withdrawn(self, job: str) -> None:
        """End what a job has in slots."""
        for claim in self._pool.of_job(job):
            end(self._pool, claim, EndCause.WITHDRAWN)

    def reconciled(self, glidein: Glidein, begun: frozenset[str]) -> None:
        """A glidein called again: what was said to it may be lost, so it is said again."""
        pool = self._pool
        here = [claim for slot in glidein.slots.values() if (claim := pool.claims.get(slot.claim))]
        for stray in sorted(begun - {claim.id for claim in here}):
            pool.emit(EndPayload(glidein.id, stray, "it has no claim here"))
        for claim in here:
            claim.priority = None if claim.payload.use is SlotUse.BATCH else claim.priority
            match pool.state_of_claim(claim.id):
                case ClaimState.OFFERED:
                    self._start(glidein, claim)
                case ClaimState.ENDING:
                    pool.emit(EndPayload(glidein.id, claim.id, "it was to end already"))
                case _ if claim.id not in begun:
                    end(pool, claim, EndCause.FORGOTTEN)
                case ClaimState.SUSPENDED:
                    pool.emit(SuspendPayload(glidein.id, claim.id))
                case ClaimState.RUNNING if claim.payload.use is SlotUse.BATCH:
                    pool.emit(ResumePayload(glidein.id, claim.id))
        settle(pool, glidein)

    # --- losing

    def lose(self, glidein: Glidein, reason: str) -> None:
        """What is in the slots of a lost glidein stays in doubt until its lease has ended."""
        pool, rules = self._pool, self._pool.rules
        for slot in glidein.slots.values():
            claim = pool.claims.get(slot.claim)
            if claim is not None:
                claim.lease_ends = glidein.answered + rules.lease + rules.grace
                pool.step_claim(claim, ClaimEvent.LOST, reason)
                pool.alarms.set(claim.id, claim.lease_ends)
                pool.emit(PayloadInDoubt(claim.payload, reason))
            slot.claim = ""

    def expire(self, claim: Claim) -> None:
        """Nothing of a payload in doubt can run any more."""
        pool, reason = self._pool, "its glidein was lost and its lease has ended"
        pool.step_claim(claim, ClaimEvent.LEASE_ENDED, reason)
        pool.emit(PayloadLost(claim.payload, reason, claim.payload.use is not SlotUse.INTERACTIVE))
