"""Which batch job runs next in a glidein, without another way through its batch system (CB-GLI-10)."""

from __future__ import annotations

from broker_core.scheduling.slots.glidein_life import BEFORE_JOINING, GlideinState
from broker_core.scheduling.slots.lines import has_room
from broker_core.scheduling.slots.messages import GlideinWanted
from broker_core.scheduling.slots.pool import SlotPool
from broker_core.scheduling.slots.records import Glidein
from broker_core.scheduling.slots.rules import SlotRole
from broker_core.scheduling.slots.slot_life import SlotState

_WAITING = (GlideinState.REQUESTED, GlideinState.QUEUED)


def free_glidein(pool: SlotPool, wanted: GlideinWanted) -> Glidein | None:
    """One whose slot1 a batch job gets instead of a glidein of its own."""
    for glidein in pool.glideins.values():
        slot = glidein.slots.get(SlotRole.SLOT1)
        if slot is None or pool.state_of_slot(slot) is not SlotState.FREE or not wanted.fits(glidein.ce):
            continue
        if glidein.payload.owner != wanted.payload.owner:
            continue
        if _lasts(pool, glidein, wanted.needs, wanted.seconds):
            return glidein
    return None


def shortest_line(pool: SlotPool, wanted: GlideinWanted) -> Glidein | None:
    """One in whose line a batch job may wait instead, with as few ahead as can be."""
    found = [
        (len(glidein.slots[SlotRole.SLOT1].line), number, glidein)
        for number, glidein in enumerate(pool.glideins.values())
        if wanted.fits(glidein.ce)
        and glidein.payload.owner == wanted.payload.owner
        and has_room(pool, glidein)
        and _lasts(pool, glidein, wanted.needs, wanted.seconds)
    ]
    return min(found)[2] if found else None


def next_to_move(pool: SlotPool, glidein: Glidein) -> Glidein | None:
    """A glidein that waits at its site, and whose job can run in the slot1 of this one; the oldest."""
    for other in pool.glideins.values():
        if pool.state_of_glidein(other.id) not in _WAITING:
            continue
        if glidein.ce != other.ce and glidein.ce not in other.others:
            continue
        if other.payload.owner != glidein.payload.owner or other.payload.use.role is not SlotRole.SLOT1:
            continue
        if _lasts(pool, glidein, other.needs, other.seconds):
            return other
    return None


def next_in_backlog(pool: SlotPool, glidein: Glidein) -> GlideinWanted | None:
    """The first batch job whose glidein was not asked for yet, and that can run in the slot1 of this one."""

    def fits(wanted: GlideinWanted) -> bool:
        if not wanted.fits(glidein.ce) or wanted.payload.owner != glidein.payload.owner:
            return False
        return _lasts(pool, glidein, wanted.needs, wanted.seconds)

    return pool.backlog.first(fits)


def enough_wait(pool: SlotPool, wanted: GlideinWanted) -> bool:
    """True if as many glideins wait at the site as are useful there, which one more would be like."""
    if not wanted.needs:
        return False
    waiting = joined = 0
    for glidein in pool.glideins.values():
        if glidein.needs != wanted.needs or glidein.payload.owner != wanted.payload.owner:
            continue
        if wanted.fits(glidein.ce):
            waiting += pool.state_of_glidein(glidein.id) in BEFORE_JOINING
            joined += pool.in_pool(glidein.id)
    return waiting >= max(pool.rules.most_waiting, joined)


def _lasts(pool: SlotPool, glidein: Glidein, needs: str, seconds: float) -> bool:
    """True if a job asks for what the glidein has, for no longer than that is there."""
    if not needs or glidein.needs != needs or glidein.closed:
        return False
    slot = glidein.slots[SlotRole.SLOT1]
    ahead = pool.rules.patience_in_line if slot.claim else 0.0
    return not glidein.until or pool.now.wall + ahead + seconds <= glidein.until
