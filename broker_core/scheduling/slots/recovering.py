"""Takes glideins, slots and claims over from the log after a start of the broker."""

from __future__ import annotations

from broker_core.reactor.entities import RecoveredEntity
from broker_core.scheduling.slots.claim_life import AT_WORK, ClaimState
from broker_core.scheduling.slots.glidein_life import BEFORE_JOINING, GlideinState
from broker_core.scheduling.slots.glideins import Glideins
from broker_core.scheduling.slots.lines import join
from broker_core.scheduling.slots.messages import SlotsRecovered
from broker_core.scheduling.slots.pool import SlotPool
from broker_core.scheduling.slots.records import Claim, EndCause, Glidein, Slot, key_of, payload_of
from broker_core.scheduling.slots.rules import PriorityControl, SlotRole, SlotUse
from broker_core.scheduling.slots.settling import deadline, settle
from broker_core.scheduling.slots.slot_life import SlotState


def recover(pool: SlotPool, glideins: Glideins, message: SlotsRecovered) -> None:
    """Go on where the log ends.

    The broker before may have answered every glidein until now: all leases count from now. What it asked for
    and may not have done is asked for again; glideins say by their call what they have begun.
    """
    pool.glidein_lives.restore({one.subject: (GlideinState(one.state), one.seq) for one in message.glideins})
    pool.slot_lives.restore({one.subject: (SlotState(one.state), one.seq) for one in message.slots})
    pool.claim_lives.restore({one.subject: (ClaimState(one.state), one.seq) for one in message.claims})
    for one in message.glideins:
        pool.glideins[one.subject] = _glidein(pool, one)
    for one in message.slots:
        own = Slot(one.subject, one.details["glidein"], SlotRole(one.details["role"]))
        own.claim = one.details.get("claim", "")
        pool.slots[own.id] = pool.glideins[own.glidein].slots[own.role] = own
    for one in message.claims:
        _recover_claim(pool, one)
    for waiting in pool.claims.values():
        slot = pool.slots.get(waiting.slot)
        if slot is not None and slot.claim != waiting.id and pool.state_of_claim(waiting.id) in AT_WORK:
            join(pool, slot, waiting)
    for glidein in pool.glideins.values():
        state, key = pool.state_of_glidein(glidein.id), key_of(glidein.payload.component)
        claim = pool.claims.get(pool.active.get(key, ""))
        if state in BEFORE_JOINING or (claim is not None and claim.glidein == glidein.id):
            pool.originators[key] = glidein.id
        if state is GlideinState.REQUESTED:
            glideins.request(glidein)
        pool.alarms.set(glidein.id, deadline(pool, glidein))
        settle(pool, glidein)


def _glidein(pool: SlotPool, one: RecoveredEntity) -> Glidein:
    now, details = pool.now.monotonic, one.details
    glidein = Glidein(one.subject, payload_of(details), details["ce"], now, now, details.get("node", ""))
    glidein.needs, glidein.seconds = details.get("needs", ""), details.get("seconds", 0.0)
    glidein.lasts, glidein.until = details.get("lasts", 0.0), details.get("until", 0.0)
    glidein.box, glidein.others = details.get("box", ""), tuple(details.get("others", ()))
    if "priorities" in details:
        glidein.priorities = PriorityControl(details["priorities"])
    return glidein


def _recover_claim(pool: SlotPool, one: RecoveredEntity) -> None:
    details = one.details
    claim = Claim(one.subject, payload_of(details), details["glidein"], details["slot"])
    if details.get("end_cause"):
        claim.end_cause = EndCause(details["end_cause"])
    if claim.payload.use is not SlotUse.BATCH:
        claim.priority = pool.rules.interactive_priority
    pool.claims[claim.id] = claim
    pool.active[key_of(claim.payload.component)] = claim.id
    claim.since = pool.now.monotonic
    if one.state is ClaimState.IN_DOUBT:
        claim.lease_ends = pool.now.monotonic + pool.rules.lease + pool.rules.grace
        pool.alarms.set(claim.id, claim.lease_ends)
