"""Brings a glidein and its batch job to what follows from who is in its slots; safe to call at any time."""

from __future__ import annotations

from broker_core.jobs.placement import computing_element
from broker_core.scheduling.slots.claim_life import AT_WORK, ClaimEvent, ClaimState
from broker_core.scheduling.slots.effects import (
    EndPayload,
    RecallPayload,
    ResumePayload,
    SetPriority,
    SpareMachines,
    SuspendPayload,
)
from broker_core.scheduling.slots.glidein_life import GlideinEvent, GlideinState
from broker_core.scheduling.slots.pool import SlotPool
from broker_core.scheduling.slots.records import Claim, EndCause, Glidein
from broker_core.scheduling.slots.rules import SlotRole
from broker_core.scheduling.slots.sharing import Treatment, priority_in_slot1, treatment

_S, _E = GlideinState, GlideinEvent
_BY_TAKEN = {
    _S.JOINED: {0: _E.EMPTIED, 1: _E.TAKEN, 2: _E.TAKEN},
    _S.BUSY: {0: _E.EMPTIED, 2: _E.SECOND_TAKEN},
    _S.SHARED: {0: _E.SLOT_EMPTIED, 1: _E.SLOT_EMPTIED},
    _S.IDLE: {1: _E.TAKEN, 2: _E.TAKEN},
}
"""What happens to a glidein by the number of its slots that are taken."""
_MAKES_ROOM = 5.0
"""Seconds that the batch system has to start a glidein on a machine that nobody holds."""
REASONS = {
    EndCause.WITHDRAWN: "its job does not want it any more",
    EndCause.MADE_ROOM: "it made room for the job in the other slot of its machine",
    EndCause.RECALLED: "the job ahead of it in the slot takes long, or the machine is shared now",
    EndCause.FORGOTTEN: "its glidein does not know it any more",
}
"""Why a payload ends, in words."""


def settle(pool: SlotPool, glidein: Glidein) -> None:
    """Do the steps of a glidein that are due, and give its batch job what is right now."""
    if not pool.in_pool(glidein.id):
        return
    while (event := _due(pool, glidein)) is not None:
        pool.step_glidein(glidein, event)
    pool.alarms.set(glidein.id, deadline(pool, glidein))
    if (batch := pool.claim_in(glidein, SlotRole.SLOT1)) is not None:
        _share(pool, glidein, batch)
    count_spare(pool, glidein)


def is_spare(pool: SlotPool, glidein: Glidein) -> bool:
    """True for one in the pool whose processor no batch job has, in either slot."""
    claims = (pool.claim_in(glidein, role) for role in glidein.slots)
    batch = any(claim is not None and claim.payload.use.activates for claim in claims)
    return pool.in_pool(glidein.id) and not batch


def count_spare(pool: SlotPool, glidein: Glidein) -> None:
    """Tell of a glidein that has become spare, or is it no longer."""
    if (spare := is_spare(pool, glidein)) != (glidein.id in pool.spare):
        pool.spare ^= {glidein.id}
        pool.emit(SpareMachines(glidein.ce, 1 if spare else -1))


def _due(pool: SlotPool, glidein: Glidein) -> GlideinEvent | None:
    state = pool.state_of_glidein(glidein.id)
    if state is _S.JOINED and pool.is_originator(glidein.payload, glidein.id):
        claim = pool.claims[pool.active[glidein.payload.component.job, glidein.payload.component.index]]
        begun = pool.state_of_claim(claim.id) not in (ClaimState.OFFERED, ClaimState.ENDING)
        return _E.ORIGINATOR_STARTED if begun else None
    return _BY_TAKEN[state].get(pool.taken(glidein)) if state in _BY_TAKEN else None


def _share(pool: SlotPool, glidein: Glidein, batch: Claim) -> None:
    other = pool.claim_in(glidein, SlotRole.SLOT2)
    priority = priority_in_slot1(pool.rules, glidein.priorities, other is not None)
    if batch.priority != priority:
        batch.priority = priority
        pool.emit(SetPriority(glidein.id, batch.id, priority))
    known = None
    if other is not None and (state := pool.state_of_claim(other.id)) is not None:
        known = other.payload.use, state
    match (
        treatment(pool.rules, pool.is_originator(batch.payload, glidein.id), known),
        pool.state_of_claim(batch.id),
    ):
        case (Treatment.SUSPEND, ClaimState.RUNNING):
            pool.step_claim(batch, ClaimEvent.SUSPENDED)
            pool.emit(SuspendPayload(glidein.id, batch.id))
        case (Treatment.RUN, ClaimState.SUSPENDED):
            pool.step_claim(batch, ClaimEvent.RESUMED)
            pool.emit(ResumePayload(glidein.id, batch.id))
        case (Treatment.END, _):
            end(pool, batch, EndCause.MADE_ROOM)


def end(pool: SlotPool, claim: Claim, cause: EndCause) -> None:
    """Have a payload end, for a reason; one that was told so already is not told again."""
    state = pool.state_of_claim(claim.id)
    if state in AT_WORK and state is not ClaimState.ENDING:
        claim.end_cause = cause
        pool.step_claim(claim, ClaimEvent.END_ASKED, REASONS[cause], {"end_cause": cause.value})
        if cause is EndCause.RECALLED:
            pool.emit(RecallPayload(claim.glidein, claim.id))
        else:
            pool.emit(EndPayload(claim.glidein, claim.id, REASONS[cause]))


def idle_exit(pool: SlotPool, glidein: Glidein) -> float:
    """Seconds after which an idle glidein ends: soon where one waits for room whose job it does not take."""
    site = computing_element(glidein.ce).site
    waits = any(
        pool.state_of_glidein(other.id) in (_S.REQUESTED, _S.QUEUED)
        and computing_element(other.ce).site == site
        for other in pool.glideins.values()
    )
    return min(_MAKES_ROOM, pool.rules.idle_exit) if waits else pool.rules.idle_exit


def deadline(pool: SlotPool, glidein: Glidein) -> float:
    """When a glidein that says nothing and gets nothing is given up, or ends, by the monotonic clock."""
    rules = pool.rules
    match pool.state_of_glidein(glidein.id):
        case _S.REQUESTED | _S.QUEUED:
            return glidein.since + rules.queue_timeout
        case _S.STARTING:
            return glidein.since + rules.start_timeout
        case _S.IDLE:
            return min(glidein.since + idle_exit(pool, glidein), glidein.answered + rules.lost_after)
        case _:
            return glidein.answered + rules.lost_after
