"""The life of a glidein as a table (CB-GLI, section 8.3)."""

from __future__ import annotations

from enum import StrEnum

from broker_core.jobs.transition_table import TransitionTable


class GlideinState(StrEnum):
    """Where a glidein is in its life."""

    REQUESTED = "Requested"
    """It was decided and goes to its computing element; the answer is awaited."""
    QUEUED = "QueuedAtSite"
    """The site has it, and its batch system has not started it."""
    STARTING = "Starting"
    """The batch system runs it; it has not joined the pool."""
    JOINED = "Joined"
    """Its node was found fit and its slots are open; the job that caused it has not started."""
    BUSY = "Busy"
    """One slot is taken."""
    SHARED = "Shared"
    """Both slots are taken."""
    IDLE = "Idle"
    """No slot is taken; it ends when that lasts (CB-GLI-10)."""
    EXITED = "Exited"
    """It ended with nothing in it: idle, or its job wants it no more."""
    FAILED = "Failed"
    """It never joined: refused, too late, or its node is not fit."""
    LOST = "Lost"
    """It was killed or was not heard for too long; what ran in it stays in doubt until its lease ends."""


class GlideinEvent(StrEnum):
    """What can happen to a glidein; the value is the event's name in the log."""

    REQUESTED = "glidein.requested"
    """A batch job activated it (CB-GLI-01)."""
    ACCEPTED = "glidein.accepted"
    """Its computing element took it."""
    REFUSED = "glidein.refused"
    """Its computing element did not take it."""
    STARTED = "glidein.started"
    """The batch system started it."""
    JOINED = "glidein.joined"
    """Its daemons called the broker, and its node passed the checks."""
    UNFIT = "glidein.unfit"
    """Its node did not pass the checks; it takes no work."""
    TIMED_OUT = "glidein.timed_out"
    """It did not come so far in time."""
    ORIGINATOR_STARTED = "glidein.originator_started"
    """The job that caused it started."""
    TAKEN = "glidein.taken"
    """A job came into its first slot that is used now."""
    SECOND_TAKEN = "glidein.second_taken"
    """A job came into its other slot too."""
    SLOT_EMPTIED = "glidein.slot_emptied"
    """One of its two jobs ended."""
    EMPTIED = "glidein.emptied"
    """Its last job ended."""
    WITHDRAWN = "glidein.withdrawn"
    """The job that caused it ended before it joined; nobody else wants it."""
    EXITED = "glidein.exited"
    """It ended, or was told to since it was idle for long enough."""
    LOST = "glidein.lost"
    """It was killed, or not heard for too long."""


S, E = GlideinState, GlideinEvent
BEFORE_JOINING = (S.REQUESTED, S.QUEUED, S.STARTING)
IN_POOL = (S.JOINED, S.BUSY, S.SHARED, S.IDLE)

_STEPS: dict[tuple[GlideinState | None, GlideinEvent], GlideinState] = {
    (None, E.REQUESTED): S.REQUESTED,
    (S.REQUESTED, E.ACCEPTED): S.QUEUED,
    **{(state, E.REFUSED): S.FAILED for state in (S.REQUESTED, S.QUEUED)},
    # A start, or the call of the glidein itself, may be heard before the answer of its site.
    **{(state, E.STARTED): S.STARTING for state in (S.REQUESTED, S.QUEUED)},
    **{(state, E.JOINED): S.JOINED for state in BEFORE_JOINING},
    **{(state, E.UNFIT): S.FAILED for state in BEFORE_JOINING},
    **{(state, E.TIMED_OUT): S.FAILED for state in BEFORE_JOINING},
    **{(state, E.WITHDRAWN): S.EXITED for state in BEFORE_JOINING},
    (S.JOINED, E.ORIGINATOR_STARTED): S.BUSY,
    # The originator ended without a start; another job may be in the other slot.
    (S.JOINED, E.TAKEN): S.BUSY,
    (S.JOINED, E.EMPTIED): S.IDLE,
    (S.BUSY, E.SECOND_TAKEN): S.SHARED,
    (S.SHARED, E.SLOT_EMPTIED): S.BUSY,
    (S.BUSY, E.EMPTIED): S.IDLE,
    (S.IDLE, E.TAKEN): S.BUSY,
    (S.IDLE, E.EXITED): S.EXITED,
    **{(state, E.LOST): S.LOST for state in (*BEFORE_JOINING, *IN_POOL)},
}

GLIDEIN_LIFE = TransitionTable(
    "a glidein", tuple(S), GlideinEvent, frozenset({S.EXITED, S.FAILED, S.LOST}), _STEPS
)
