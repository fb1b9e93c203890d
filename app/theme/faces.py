"""How a job's state looks: a shape, a colour token and a word, never a colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from broker_core.jobs.states import JobState


class Shape(StrEnum):
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
class Face:
    """A state as shown: its glyph, its colour token (`-soft` gives its background) and its word."""

    shape: Shape
    token: str
    word: str
    more: str = ""
    """Said behind the word where there is room."""


_PLAIN = {
    JobState.SUBMITTED: Shape.HOLLOW,
    JobState.WAITING: Shape.HOLLOW,
    JobState.READY: Shape.HALF,
    JobState.SCHEDULED: Shape.HALF,
    JobState.RUNNING: Shape.FILLED,
    JobState.DONE: Shape.CHECK,
    JobState.CLEARED: Shape.DOUBLE_CHECK,
    JobState.ABORTED: Shape.CROSS,
    JobState.CANCELED: Shape.BAR,
}
FACES = {state: Face(shape, f"state-{state.value}", state.value) for state, shape in _PLAIN.items()}
"""The face of each state by itself."""
HELD = Face(Shape.PAUSE, "state-Waiting", "On hold")
UNHEARD = Face(Shape.QUESTION, "state-Unheard", "Not heard from")
AT_SITE = frozenset({JobState.READY, JobState.SCHEDULED, JobState.RUNNING})
"""States in which a job is somewhere; whether they still hold is not known while its site is silent."""
FAILED_TOKEN = "state-DoneFailed"


def face(
    state: str,
    exit_code: int | None = None,
    held: str = "",
    canceling: float | None = None,
    unheard: float | None = None,
) -> Face:
    """Return the face of a job in `state`; what is not a state is shown as not heard from.

    `unheard`: since when its site is not heard from, seconds since the epoch; None: it is.
    """
    plain = FACES.get(state)  # type: ignore[call-overload]
    if plain is None or (unheard and state in AT_SITE):
        return UNHEARD
    if canceling and JobState(state).active:
        return Face(plain.shape, plain.token, "Canceling")
    if held and state == JobState.WAITING:
        return HELD
    if exit_code and state == JobState.DONE:
        return Face(Shape.EXCLAMATION, FAILED_TOKEN, f"Done, exit {exit_code}")
    return plain


def face_of(row: Mapping[str, Any]) -> Face:
    """Return the face of a job's row (JobRecord field to value)."""
    return face(row["state"], row["exit_code"], row["held"], row["canceling"], row.get("unheard"))


def failed(state: str, exit_code: int | None) -> bool:
    """True for what queries and notices call failed: Aborted, or Done with an exit code other than 0."""
    return state == JobState.ABORTED or (state in (JobState.DONE, JobState.CLEARED) and bool(exit_code))
