"""Which batch job runs next in a glidein, without another way through its batch system (CB-GLI-10)."""

from __future__ import annotations

from broker_core.scheduling.slots.glidein_life import GlideinState
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
        if slot is None or pool.state_of_slot(slot) is not SlotState.FREE or glidein.ce != wanted.ce:
            continue
        if glidein.payload.owner != wanted.payload.owner:
            continue
        if _lasts(pool, glidein, wanted.needs, wanted.seconds):
            return glidein
    return None


def next_in_line(pool: SlotPool, glidein: Glidein) -> Glidein | None:
    """A glidein that waits at its site, and whose job can run in a free slot1 of this one; the oldest."""
    for other in pool.glideins.values():
        if pool.state_of_glidein(other.id) not in _WAITING or other.ce != glidein.ce:
            continue
        if other.payload.owner != glidein.payload.owner or other.payload.use.role is not SlotRole.SLOT1:
            continue
        if _lasts(pool, glidein, other.needs, other.seconds):
            return other
    return None


def _lasts(pool: SlotPool, glidein: Glidein, needs: str, seconds: float) -> bool:
    """True if a job asks for what the glidein has, for no longer than that is there."""
    if not needs or glidein.needs != needs or glidein.closed:
        return False
    return not glidein.until or pool.now.wall + seconds <= glidein.until
