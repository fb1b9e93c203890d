"""Batch jobs in line for the slot1 of a machine: its glidein has them, and loses no time between them."""

from __future__ import annotations

from collections.abc import Sequence

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


def has_its_share(pool: SlotPool, glidein: Glidein) -> bool:
    """True if a line is as long as all are if what waits is shared out: else the last jobs wait for one
    another beside free machines."""
    line, most = len(glidein.slots[SlotRole.SLOT1].line), most_in_line(pool.rules, glidein.pace)
    if len(pool.backlog) >= most * len(pool.glideins):
        return False
    like = _like(pool, glidein)
    joined = sum(pool.in_pool(other.id) for other in like)
    return line >= max(1, (_waiting(pool, like) + len(like) - joined) // joined)


def has_room_at_first(pool: SlotPool, glidein: Glidein) -> bool:
    """True if a short job may wait behind the first one there, which is short too. There are many of them
    for each machine, also for those that are still to come: else they would wait beside free ones."""
    rules = pool.rules
    if glidein.pace is not None or not is_short(rules, glidein.seconds):
        return False
    like = _like(pool, glidein)
    share = _waiting(pool, like) // len(like)
    return share >= rules.first_in_line // 2 and _has_room(pool, glidein, min(rules.first_in_line, share))


def _like(pool: SlotPool, glidein: Glidein) -> list[Glidein]:
    """All that may have jobs instead of one that joined, and that one."""
    return [
        other
        for other in pool.glideins.values()
        if other.needs == glidein.needs and other.payload.owner == glidein.payload.owner and not other.closed
    ]


def _waiting(pool: SlotPool, glideins: Sequence[Glidein]) -> int:
    """Jobs that wait here, or in the lines of some glideins."""
    lines = (one.slots[SlotRole.SLOT1].line for one in glideins if one.slots)
    return len(pool.backlog) + sum(map(len, lines))


def is_short(rules: SlotRules, wall_limit: float) -> bool:
    """True for a job that is short by its own words. `wall_limit`: seconds; 0: none."""
    return 0.0 < wall_limit <= rules.short


def _has_room(pool: SlotPool, glidein: Glidein, most: int) -> bool:
    slot = glidein.slots.get(SlotRole.SLOT1)
    if slot is None or not slot.claim or glidein.closed or glidein.slots[SlotRole.SLOT2].claim:
        return False
    head = pool.claims[slot.claim]
    if pool.now.monotonic - head.since > _patience(pool.rules, glidein):
        return False
    return len(slot.line) < most


def join(pool: SlotPool, slot: Slot, claim: Claim) -> None:
    """A claim gets into line; who is ahead has it called back after a while."""
    slot.line.append(claim.id)
    _watch(pool, slot)


def _watch(pool: SlotPool, slot: Slot) -> None:
    """Have the first of a slot remembered that has others behind it."""
    if slot.line and slot.claim:
        patience = _patience(pool.rules, pool.glideins[slot.glidein])
        pool.alarms.set(slot.claim, pool.claims[slot.claim].since + patience)


def _patience(rules: SlotRules, glidein: Glidein) -> float:
    """Seconds that others wait behind a job: fewer while no other has shown how long they take there."""
    return rules.time_in_line if glidein.pace is None else rules.patience_in_line


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
