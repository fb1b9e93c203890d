"""The life of an interactive session as its desk sees it, as a table (CB-UI-07)."""

from __future__ import annotations

from enum import StrEnum

from broker_core.interactive.shadow.session_events import ENDED, SessionState
from broker_core.jobs.transition_table import TransitionTable

S = SessionState
_ACTIVE = tuple(state for state in S if state not in ENDED)


class SessionEvent(StrEnum):
    """What happens to a session; the value is for people."""

    ABSENT = "not there yet"
    """The job, or this start of it, has no agent yet."""
    WELCOMED = "welcomed"
    """The agent knows us, and sends what we miss first."""
    CAUGHT_UP = "caught up"
    """Past output is here, or none is wanted."""
    CUT = "cut"
    """The connection broke."""
    ENDED = "ended"
    """The program has ended, and all its output is here."""
    GIVEN_UP = "given up"
    """The agent waited too long for a desk."""
    REFUSED = "refused"
    """Somebody does not let us, and trying again does not help."""


E = SessionEvent

SESSION_LIFE = TransitionTable(
    "an interactive session",
    tuple(S),
    SessionEvent,
    frozenset(ENDED),
    {
        (None, E.ABSENT): S.STARTING,
        **{(state, E.ABSENT): S.STARTING for state in _ACTIVE},
        **{(state, E.WELCOMED): S.DRAINING for state in _ACTIVE},
        **{(state, E.CAUGHT_UP): S.CONNECTED for state in _ACTIVE},
        **{(state, E.CUT): S.BUFFERING for state in _ACTIVE},
        **{(state, E.ENDED): S.CLOSED for state in _ACTIVE},
        **{(state, E.GIVEN_UP): S.DEAD for state in _ACTIVE},
        **{(state, E.REFUSED): S.REFUSED for state in _ACTIVE},
    },
)
"""What is not listed comes too late, and changes nothing."""


def state_after(state: SessionState, event: SessionEvent) -> SessionState:
    """The state that follows; in the last one nothing does."""
    return SESSION_LIFE.after(state, event) if SESSION_LIFE.allows(state, event) else state
