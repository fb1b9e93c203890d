"""The life of a claim as a table: one payload in one slot, once (reliability case 18)."""

from __future__ import annotations

from enum import StrEnum

from broker_core.jobs.transition_table import TransitionTable


class ClaimState(StrEnum):
    """How far a payload in a slot is."""

    OFFERED = "Offered"
    """The slot is its own; the start of the payload was asked for, and not confirmed."""
    GATHERING = "Gathering"
    """A component of a job over several sites is there and waits for the others (CB-GLI-13)."""
    RUNNING = "Running"
    """The payload runs."""
    SUSPENDED = "Suspended"
    """The payload is stopped to make room for the other slot's."""
    ENDING = "Ending"
    """The payload was told to end; its end is awaited."""
    IN_DOUBT = "InDoubt"
    """Its glidein is lost: the payload may run until its lease ends, and is not run again before that."""
    ENDED = "Ended"
    """The payload is over, by the word of its glidein."""
    REFUSED = "Refused"
    """The glidein did not start the payload."""
    EXPIRED = "Expired"
    """Its lease ended: nothing of the payload is left, whatever became of it."""


class ClaimEvent(StrEnum):
    """What can happen to a claim; the value is the event's name in the log."""

    MADE = "claim.made"
    """A free slot, or the reserved one of the originator, was given to a payload."""
    REFUSED = "claim.refused"
    """The glidein did not start the payload; the reason says why."""
    GATHERED = "claim.gathered"
    """The payload is there and waits for the other components of its job."""
    STARTED = "claim.started"
    """The payload runs; a component that waited, since all components are there."""
    SUSPENDED = "claim.suspended"
    """The payload is stopped."""
    RESUMED = "claim.resumed"
    """The payload goes on."""
    END_ASKED = "claim.end_asked"
    """The payload is to end: its owner, its broker or the policy of the other slot's job wants it."""
    ENDED = "claim.ended"
    """The payload is over; carries its exit code."""
    LOST = "claim.lost"
    """Its glidein is lost."""
    LEASE_ENDED = "claim.lease_ended"
    """The time is over after which the node has ended the payload by itself."""


S, E = ClaimState, ClaimEvent
AT_WORK = (S.OFFERED, S.GATHERING, S.RUNNING, S.SUSPENDED, S.ENDING)
"""States in which the payload is in its slot, as far as is known."""

_STEPS: dict[tuple[ClaimState | None, ClaimEvent], ClaimState] = {
    (None, E.MADE): S.OFFERED,
    **{(state, E.REFUSED): S.REFUSED for state in (S.OFFERED, S.ENDING, S.IN_DOUBT)},
    (S.OFFERED, E.GATHERED): S.GATHERING,
    # One that is called back from the line may have begun by then.
    **{(state, E.STARTED): S.RUNNING for state in (S.OFFERED, S.GATHERING, S.ENDING)},
    (S.RUNNING, E.SUSPENDED): S.SUSPENDED,
    (S.SUSPENDED, E.RESUMED): S.RUNNING,
    **{(state, E.END_ASKED): S.ENDING for state in (S.OFFERED, S.GATHERING, S.RUNNING, S.SUSPENDED)},
    **{(state, E.LOST): S.IN_DOUBT for state in AT_WORK},
    **{(state, E.ENDED): S.ENDED for state in (*AT_WORK, S.IN_DOUBT)},
    (S.IN_DOUBT, E.LEASE_ENDED): S.EXPIRED,
}

CLAIM_LIFE = TransitionTable(
    "a claim of a slot", tuple(S), ClaimEvent, frozenset({S.ENDED, S.REFUSED, S.EXPIRED}), _STEPS
)
