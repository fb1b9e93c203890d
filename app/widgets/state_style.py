"""How the outcome of a job looks: a shape, a colour token and a word, never a colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from broker_core.jobs.outcome import Outcome, brief_cause, outcome_of
from broker_core.jobs.states import JobState

AT_SITE = frozenset({JobState.READY, JobState.SCHEDULED, JobState.RUNNING})
"""States in which a job is somewhere; whether they still hold is not known while its site is silent."""


class StateShape(StrEnum):
    """The glyph of a state."""

    HOLLOW = "hollow"
    HALF = "half"
    FILLED = "filled"
    CHECK = "check"
    EXCLAMATION = "exclamation"
    DOUBLE_CHECK = "double-check"
    CROSS = "cross"
    BAR = "bar"
    QUESTION = "question"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class StateStyle:
    """A state as shown: its glyph, its colour token (`-soft` gives its background) and its word."""

    shape: StateShape
    token: str
    word: str
    more: str = ""
    """Said behind the word where there is room."""


HELD = StateStyle(StateShape.PAUSE, "state-Waiting", "On hold")
UNHEARD = StateStyle(StateShape.QUESTION, "state-Unheard", "Not heard from")
_SHAPES = {
    Outcome.SUBMITTED: StateShape.HOLLOW,
    Outcome.WAITING: StateShape.HOLLOW,
    Outcome.READY: StateShape.HALF,
    Outcome.SCHEDULED: StateShape.HALF,
    Outcome.RUNNING: StateShape.FILLED,
    Outcome.FAILED: StateShape.CROSS,
    Outcome.DONE: StateShape.CHECK,
    Outcome.CANCELED: StateShape.BAR,
}
OUTCOME_STYLES = {
    Outcome.UNKNOWN: UNHEARD,
    **{one: StateStyle(shape, f"state-{one.value}", one.value) for one, shape in _SHAPES.items()},
}
"""The style of each outcome by itself."""
_FETCHED = StateStyle(StateShape.DOUBLE_CHECK, "state-Cleared", Outcome.DONE.value)


def style_of(
    state: str,
    exit_code: int | None = None,
    held: str = "",
    canceling: float | None = None,
    unheard: float | None = None,
    *,
    signal: int | None = None,
    reason: str = "",
) -> StateStyle:
    """Return the style of a job in `state`; what is not a state is shown as not heard from.

    `unheard`: since when its site is not heard from, seconds since the epoch; None: it is.
    """
    outcome = outcome_of(state, exit_code)
    shown = OUTCOME_STYLES[outcome]
    if unheard and state in AT_SITE:
        return UNHEARD
    if canceling and outcome.active:
        return StateStyle(shown.shape, shown.token, "Canceling")
    if held and outcome is Outcome.WAITING:
        return HELD
    if outcome is Outcome.FAILED and (cause := brief_cause(state, exit_code, signal, reason)):
        return StateStyle(shown.shape, shown.token, f"{shown.word}, {cause}")
    return _FETCHED if outcome is Outcome.DONE and state == JobState.CLEARED else shown
