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
    RecallPayload,
    ResumePayload,
    SlotOpened,
    SlotsClaimed,
    SlotsRefused,
    StartPayload,
    StopGlidein,
    SuspendPayload,
)
from broker_core.scheduling.slots.glidein_life import GlideinEvent
from broker_core.scheduling.slots.lines import (
    has_its_share,
    has_room,
    has_room_at_first,
    is_short,
    join,
    leave,
    recall,
)
from broker_core.scheduling.slots.messages import (
    ApplicationReleased,
    GlideinWanted,
    PayloadEnded,
    PayloadRefused,
    PayloadStarted,
    SlotsWanted,
)
from broker_core.scheduling.slots.pool import SlotPool
from broker_core.scheduling.slots.records import Claim, EndCause, Glidein, Payload, Slot, key_of
from broker_core.scheduling.slots.reuse import free_glidein, next_in_backlog, next_to_move, shortest_line
from broker_core.scheduling.slots.rules import OnRelease, SlotRole, SlotUse
from broker_core.scheduling.slots.settling import REASONS, end, settle
from broker_core.scheduling.slots.sharing import priority_in_slot1
from broker_core.scheduling.slots.slot_life import SlotEvent, SlotState


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

    def _may_follow(self, glidein: Glidein, payload: Payload) -> bool:
        """True for a batch job that may have slot1, or a place in its line."""
        if glidein.slots[SlotRole.SLOT1].claim:
            return glidein.admits(payload)
        return self._may_have(glidein, payload)

    def _needs_all(self, glidein: Glidein) -> bool:
        """True beside a job that has started, if batch jobs make room for it."""
        other = self._pool.claim_in(glidein, SlotRole.SLOT2)
        if other is None or self._pool.rules.beside(other.payload.use) is OnRelease.LOW_PRIORITY:
            return False
        return self._pool.state_of_claim(other.id) in (ClaimState.RUNNING, ClaimState.ENDING)

    def _busy(self, payload: Payload) -> bool:
        key, pool = key_of(payload.component), self._pool
        return key in pool.active or key in pool.originators or payload.component in pool.backlog

    def make(self, glidein: Glidein, payload: Payload) -> str:
        """Claim a slot that is free, or reserved for the payload, or the end of its line; returns the id."""
        pool, slot = self._pool, glidein.slots[payload.use.role]
        claim = Claim(pool.new_id(), payload, glidein.id, slot.id, pool.now.monotonic)
        pool.claims[claim.id] = claim
        pool.active[key_of(payload.component)] = claim.id
        details = {**payload.as_details(), "glidein": glidein.id, "slot": slot.id}
        pool.step_claim(claim, ClaimEvent.MADE, details=details)
        if slot.claim:
            join(pool, slot, claim)
        else:
            slot.claim = claim.id
            pool.step_slot(slot, glidein.payload.owner, SlotEvent.CLAIMED, {"claim": claim.id})
        self._start(glidein, claim)
        if slot.role is SlotRole.SLOT2:
            recall(pool, glidein)
        settle(pool, glidein)
        return claim.id

    def _start(self, glidein: Glidein, claim: Claim) -> None:
        rules, use = self._pool.rules, claim.payload.use
        claim.priority = rules.interactive_priority
        if use is SlotUse.BATCH:
            shared = self._pool.claim_in(glidein, SlotRole.SLOT2) is not None
            claim.priority = priority_in_slot1(rules, glidein.priorities, shared)
        after = self._pool.ahead(claim)
        self._pool.emit(StartPayload(glidein.id, claim.id, use.role, claim.payload, claim.priority, after))

    # --- following

    def started(self, message: PayloadStarted) -> None:
        """A payload runs, or waits for the other components of its job."""
        pool = self._pool
        claim, state = pool.claims.get(message.claim), pool.state_of_claim(message.claim)
        recalled = state is ClaimState.ENDING and claim is not None and claim.end_cause is EndCause.RECALLED
        if claim is None or (state is not ClaimState.OFFERED and not recalled):
            if state not in AT_WORK:
                pool.late(message.claim, message.name)
            return
        claim.end_cause, details = None, {"end_cause": ""} if recalled else None
        waits = claim.payload.use is SlotUse.INTER_CLUSTER and not claim.released
        pool.step_claim(claim, ClaimEvent.GATHERED if waits else ClaimEvent.STARTED, details=details)
        pool.emit(PayloadRuns(claim.payload))
        settle(pool, pool.glideins[claim.glidein])

    def released(self, message: ApplicationReleased) -> None:
        """All components are there: each runs, and the batch jobs beside them are dealt with."""
        for claim in self._pool.of_job(message.job):
            claim.released = True
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
        recalled = claim.end_cause is EndCause.RECALLED
        reason = REASONS[EndCause.RECALLED] if recalled else message.reason
        pool.step_claim(claim, ClaimEvent.REFUSED, reason)
        if (glidein := pool.glideins.get(claim.glidein)) is not None and claim.end_cause is None:
            glidein.closed = True
            recall(pool, glidein)
        self._over(claim)
        pool.emit(PayloadReturned(claim.payload, reason, recalled))

    def ended(self, message: PayloadEnded) -> None:
        """A payload is over; also one in doubt, whose end was proved before its lease ended."""
        pool, claim = self._pool, self._pool.claims.get(message.claim)
        if claim is None:
            pool.late(message.claim, message.name)
            return
        pool.step_claim(claim, ClaimEvent.ENDED, message.reason, {"exit_code": message.exit_code})
        self._over(claim)
        cause = None if claim.end_cause is EndCause.WITHDRAWN else claim.end_cause
        if message.exit_code is None and cause is not None:
            reason = message.reason or REASONS[cause]
            pool.emit(PayloadReturned(claim.payload, reason, cause.blameless))
        else:
            pool.emit(PayloadOver(claim.payload, message.exit_code, message.reason))

    def reuse(self, wanted: GlideinWanted) -> bool:
        """Give a batch job the slot of a glidein that is there already; False if there is none."""
        pool = self._pool
        glidein = free_glidein(pool, wanted)
        if glidein is not None and self._may_have(glidein, wanted.payload):
            self.make(glidein, wanted.payload)
            return True
        glidein = shortest_line(pool, wanted)
        if glidein is None or not glidein.admits(wanted.payload):
            return False
        self.make(glidein, wanted.payload)
        return True

    def _fill(self, glidein: Glidein) -> None:
        """Give a free slot1, and the line behind it, to batch jobs whose own glideins still wait at the site,
        and go."""
        pool, slot = self._pool, glidein.slots[SlotRole.SLOT1]
        while self._may_fill(glidein, slot):
            wanted = next_in_backlog(pool, glidein)
            if wanted is not None and self._may_follow(glidein, wanted.payload):
                pool.backlog.remove(wanted.payload.component)
                self.make(glidein, wanted.payload)
                continue
            other = next_to_move(pool, glidein)
            if other is None or not self._may_follow(glidein, other.payload):
                return
            reason = "its job runs in a glidein that was free"
            pool.step_glidein(other, GlideinEvent.WITHDRAWN, reason)
            pool.emit(StopGlidein(other.id, other.ce, reason))
            self.make(glidein, other.payload)

    def _may_fill(self, glidein: Glidein, slot: Slot) -> bool:
        pool = self._pool
        if not slot.claim:
            return pool.state_of_slot(slot) is SlotState.FREE
        return has_room(pool, glidein) and not has_its_share(pool, glidein)

    def fill_at_first(self, glidein: Glidein) -> None:
        """Give short jobs that wait for glideins places behind the first job of one that has just joined."""
        pool = self._pool
        while has_room_at_first(pool, glidein):
            wanted = next_in_backlog(pool, glidein)
            if wanted is None or not is_short(pool.rules, wanted.seconds):
                return
            if not glidein.admits(wanted.payload):
                return
            pool.backlog.remove(wanted.payload.component)
            self.make(glidein, wanted.payload)

    def _over(self, claim: Claim) -> None:
        """Free the slot of a claim; it may be closed already."""
        pool, slot = self._pool, self._pool.slots.get(claim.slot)
        if slot is None:
            return
        glidein = pool.glideins[claim.glidein]
        leave(pool, glidein, slot, claim)
        if pool.is_originator(claim.payload, glidein.id):
            del pool.originators[key_of(claim.payload.component)]
        if slot.role is SlotRole.SLOT1:
            self._fill(glidein)
        if not slot.claim:
            pool.emit(SlotOpened(glidein.ce, glidein.payload.vo, slot.role))
        settle(pool, glidein)

    def withdrawn(self, job: str) -> None:
        """End what a job has in slots."""
        for claim in self._pool.of_job(job):
            end(self._pool, claim, EndCause.WITHDRAWN)

    def reconciled(self, glidein: Glidein, begun: frozenset[str]) -> None:
        """A glidein called again: what was said to it may be lost, so it is said again."""
        pool = self._pool
        here = pool.claims_at(glidein)
        for stray in sorted(begun - {claim.id for claim in here}):
            pool.emit(EndPayload(glidein.id, stray, "it has no claim here"))
        for claim in here:
            claim.priority = None if claim.payload.use is SlotUse.BATCH else claim.priority
            match pool.state_of_claim(claim.id):
                case ClaimState.OFFERED:
                    self._start(glidein, claim)
                case ClaimState.ENDING if claim.end_cause is EndCause.RECALLED:
                    pool.emit(RecallPayload(glidein.id, claim.id))
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
        for claim in pool.claims_at(glidein):
            claim.lease_ends = glidein.answered + rules.lease + rules.grace
            pool.step_claim(claim, ClaimEvent.LOST, reason)
            pool.alarms.set(claim.id, claim.lease_ends)
            pool.emit(PayloadInDoubt(claim.payload, reason))
        for slot in glidein.slots.values():
            slot.claim, slot.line = "", []

    def due(self, claim: Claim) -> None:
        """Nothing of a payload in doubt can run any more; or one has others in line for long."""
        if self._pool.state_of_claim(claim.id) is not ClaimState.IN_DOUBT:
            recall(self._pool, self._pool.glideins[claim.glidein])
            return
        pool, reason = self._pool, "its glidein was lost and its lease has ended"
        pool.step_claim(claim, ClaimEvent.LEASE_ENDED, reason)
        pool.emit(PayloadLost(claim.payload, reason, claim.payload.use is not SlotUse.INTERACTIVE))
