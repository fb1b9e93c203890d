"""How a job's state looks: a shape, a colour token and a word, never a colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from broker_core.jobs.states import JobState

AT_SITE = frozenset({JobState.READY, JobState.SCHEDULED, JobState.RUNNING})
"""States in which a job is somewhere; whether they still hold is not known while its site is silent."""
FAILED_TOKEN = "state-DoneFailed"


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


_PLAIN = {
    JobState.SUBMITTED: StateShape.HOLLOW,
    JobState.WAITING: StateShape.HOLLOW,
    JobState.READY: StateShape.HALF,
    JobState.SCHEDULED: StateShape.HALF,
    JobState.RUNNING: StateShape.FILLED,
    JobState.DONE: StateShape.CHECK,
    JobState.CLEARED: StateShape.DOUBLE_CHECK,
    JobState.ABORTED: StateShape.CROSS,
    JobState.CANCELED: StateShape.BAR,
}
STATE_STYLES = {
    state: StateStyle(shape, f"state-{state.value}", state.value) for state, shape in _PLAIN.items()
}
"""The style of each state by itself."""
_BY_NAME = {state.value: style for state, style in STATE_STYLES.items()}
HELD = StateStyle(StateShape.PAUSE, "state-Waiting", "On hold")
UNHEARD = StateStyle(StateShape.QUESTION, "state-Unheard", "Not heard from")


def style_of(
    state: str,
    exit_code: int | None = None,
    held: str = "",
    canceling: float | None = None,
    unheard: float | None = None,
) -> StateStyle:
    """Return the style of a job in `state`; what is not a state is shown as not heard from.

    `unheard`: since when its site is not heard from, seconds since the epoch; None: it is.
    """
    plain = _BY_NAME.get(state)
    if plain is None or (unheard and state in AT_SITE):
        return UNHEARD
    if canceling and JobState(state).active:
        return StateStyle(plain.shape, plain.token, "Canceling")
    if held and state == JobState.WAITING:
        return HELD
    if exit_code and state == JobState.DONE:
        return StateStyle(StateShape.EXCLAMATION, FAILED_TOKEN, f"Done, exit {exit_code}")
    return plain


def failed(state: str, exit_code: int | None) -> bool:
    """True for what queries and notices call failed: Aborted, or Done with an exit code other than 0."""
    return state == JobState.ABORTED or (state in (JobState.DONE, JobState.CLEARED) and bool(exit_code))
