"""The life of a virtual slot as a table (CB-GLI-03, CB-GLI-07)."""

from __future__ import annotations

from enum import StrEnum

from broker_core.jobs.transition_table import TransitionTable


class SlotState(StrEnum):
    """Who may use a slot."""

    RESERVED = "Reserved"
    """For the job that caused the glidein, until that has ended; nobody else gets it (CB-GLI-07)."""
    FREE = "Free"
    """Whoever may use it can claim it."""
    CLAIMED = "Claimed"
    """One claim has it; nobody else gets it before the claim is over."""
    CLOSED = "Closed"
    """Its glidein is gone."""


class SlotEvent(StrEnum):
    """What can happen to a slot; the value is the event's name in the log."""

    RESERVED = "slot.reserved"
    """Its glidein joined; it is for the originator."""
    OPENED = "slot.opened"
    """Its glidein joined; it is for anybody of the same VO."""
    CLAIMED = "slot.claimed"
    """A claim was made; the event names it."""
    FREED = "slot.freed"
    """Its claim is over, or the originator wants it no more."""
    CLOSED = "slot.closed"
    """Its glidein ended or was lost."""


S, E = SlotState, SlotEvent
_OPEN = (S.RESERVED, S.FREE, S.CLAIMED)

_STEPS: dict[tuple[SlotState | None, SlotEvent], SlotState] = {
    (None, E.RESERVED): S.RESERVED,
    (None, E.OPENED): S.FREE,
    (S.RESERVED, E.CLAIMED): S.CLAIMED,
    (S.FREE, E.CLAIMED): S.CLAIMED,
    (S.CLAIMED, E.FREED): S.FREE,
    (S.RESERVED, E.FREED): S.FREE,
    **{(state, E.CLOSED): S.CLOSED for state in _OPEN},
}

SLOT_LIFE = TransitionTable("a virtual slot", tuple(S), SlotEvent, frozenset({S.CLOSED}), _STEPS)
