"""Batch jobs in line for the slot1 of a machine: its glidein has them, and loses no time between them."""

from __future__ import annotations

from broker_core.scheduling.slots.claim_life import ClaimState
from broker_core.scheduling.slots.pool import SlotPool
from broker_core.scheduling.slots.records import Claim, EndCause, Glidein, Slot
from broker_core.scheduling.slots.rules import SlotRole, SlotRules
from broker_core.scheduling.slots.settling import end
from broker_core.scheduling.slots.slot_life import SlotEvent

_WEIGHT = 0.5
"""Of the last job in the pace of a glidein."""


def most_in_line(rules: SlotRules, pace: float | None) -> int:
    """How many jobs may wait behind the one in a slot whose jobs are over in `pace` seconds."""
    if pace is None or pace > 2 * rules.time_in_line:
        return 0
    return min(rules.most_in_line, max(1, int(rules.time_in_line / max(pace, 0.001))))


def has_room(pool: SlotPool, glidein: Glidein) -> bool:
    """True if a further batch job may wait in line there: nobody does beside a job in the other slot."""
    return _has_room(pool, glidein, most_in_line(pool.rules, glidein.pace))


def has_room_at_first(pool: SlotPool, glidein: Glidein) -> bool:
    """True if a short job may wait behind the first one there, which is short too. There are more of them
    than places in the first lines: else they would wait for one another beside free machines."""
    rules = pool.rules
    if glidein.pace is not None or not is_short(rules, glidein.seconds):
        return False
    if len(pool.backlog) <= rules.first_in_line * len(pool.glideins):
        return False
    return _has_room(pool, glidein, rules.first_in_line)


def is_short(rules: SlotRules, wall_limit: float) -> bool:
    """True for a job that is short by its own words. `wall_limit`: seconds; 0: none."""
    return 0.0 < wall_limit <= rules.short


def _has_room(pool: SlotPool, glidein: Glidein, most: int) -> bool:
    slot = glidein.slots.get(SlotRole.SLOT1)
    if slot is None or not slot.claim or glidein.closed or glidein.slots[SlotRole.SLOT2].claim:
        return False
    head = pool.claims[slot.claim]
    if pool.now.monotonic - head.since > pool.rules.patience_in_line:
        return False
    return len(slot.line) < most


def join(pool: SlotPool, slot: Slot, claim: Claim) -> None:
    """A claim gets into line; who is ahead has it called back after a while."""
    slot.line.append(claim.id)
    _watch(pool, slot)


def _watch(pool: SlotPool, slot: Slot) -> None:
    """Have the first of a slot remembered that has others behind it."""
    if slot.line and slot.claim:
        pool.alarms.set(slot.claim, pool.claims[slot.claim].since + pool.rules.patience_in_line)


def leave(pool: SlotPool, glidein: Glidein, slot: Slot, claim: Claim) -> None:
    """A claim is over: if it had the slot, the next in line has it."""
    if claim.id in slot.line:
        slot.line.remove(claim.id)
        return
    if slot.role is SlotRole.SLOT1:
        took = pool.now.monotonic - claim.since
        glidein.pace = took if glidein.pace is None else (1 - _WEIGHT) * glidein.pace + _WEIGHT * took
    slot.claim = ""
    pool.step_slot(slot, glidein.payload.owner, SlotEvent.FREED, {"claim": ""})
    if slot.line:
        follower = pool.claims[slot.line.pop(0)]
        slot.claim, follower.since = follower.id, pool.now.monotonic
        pool.step_slot(slot, glidein.payload.owner, SlotEvent.CLAIMED, {"claim": follower.id})
        _watch(pool, slot)


def recall(pool: SlotPool, glidein: Glidein) -> None:
    """Call all back who wait in line there and have not begun, as far as is known."""
    slot = glidein.slots.get(SlotRole.SLOT1)
    for claim in [pool.claims[id] for id in (slot.line if slot is not None else ())]:
        if pool.state_of_claim(claim.id) is ClaimState.OFFERED:
            end(pool, claim, EndCause.RECALLED)
