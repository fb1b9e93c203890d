"""How a job stands or has ended, as people mean it: the one answer to whether a job failed. Pure."""

from __future__ import annotations

import signal as signals
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from broker_core.jobs.states import JobState

S = JobState
_DONE = frozenset({S.DONE, S.CLEARED})


class Outcome(StrEnum):
    """What all lists, counts and summaries say of a job. States tell where a job is in its life instead."""

    SUBMITTED = "Submitted"
    WAITING = "Waiting"
    READY = "Ready"
    SCHEDULED = "Scheduled"
    RUNNING = "Running"
    FAILED = "Failed"
    """Aborted, or ended with an exit code other than 0; fetching the output changes nothing in that."""
    DONE = "Done"
    """Ended well, whether its output was fetched or not."""
    CANCELED = "Canceled"
    UNKNOWN = "Unknown"
    """In a state that only a broker of another version knows."""

    __hash__ = str.__hash__
    """As for states: looked up for each row of a table."""

    @property
    def active(self) -> bool:
        """True while the job goes on."""
        return self in _ACTIVE

    @property
    def ended(self) -> bool:
        """True once the job is over, however it went."""
        return self in _ENDED


_ACTIVE = frozenset(Outcome(state.value) for state in S if state.active)
_ENDED = frozenset({Outcome.FAILED, Outcome.DONE, Outcome.CANCELED})
_OUTCOMES: dict[tuple[JobState, bool], Outcome] = {
    **{(state, bad): Outcome(state.value) for state in S if state.active for bad in (False, True)},
    (S.DONE, False): Outcome.DONE,
    (S.DONE, True): Outcome.FAILED,
    (S.CLEARED, False): Outcome.DONE,
    (S.CLEARED, True): Outcome.FAILED,
    (S.ABORTED, False): Outcome.FAILED,
    (S.ABORTED, True): Outcome.FAILED,
    (S.CANCELED, False): Outcome.CANCELED,
    (S.CANCELED, True): Outcome.CANCELED,
}
"""State, and whether an exit code other than 0 is recorded, to the outcome. The code counts only where the
state says that the job is done: an earlier attempt may have left it, and an aborted job may have one of 0."""

_BY_NAME: dict[tuple[str, bool], Outcome] = {
    (state.value, bad): one for (state, bad), one in _OUTCOMES.items()
}


def outcome_of(state: str, exit_code: int | None) -> Outcome:
    """Return the outcome of a job by its state and the exit code recorded."""
    return _BY_NAME.get((state, bool(exit_code)), Outcome.UNKNOWN)


def outcomes(states: Iterable[str], exit_codes: Iterable[int | None]) -> list[Outcome]:
    """Return `outcome_of` for each row of two columns."""
    known, unknown = _BY_NAME.get, Outcome.UNKNOWN
    pairs = zip(states, exit_codes, strict=True)
    return [known((state, bool(code)), unknown) for state, code in pairs]


def cases(outcome: Outcome) -> list[tuple[JobState, bool]]:
    """Return the states with that outcome, each with whether an exit code other than 0 is recorded: what a
    database has to look for."""
    return [case for case, one in _OUTCOMES.items() if one is outcome]


def ended_by(
    state: str, exit_code: int | None, signal: int | None, reason: str = ""
) -> tuple[int | None, int | None]:
    """Return exit code and signal by which the program of a row ended, at most one of them.

    A row keeps what an attempt before left: the code is that of the end only where the job is done, a signal
    only where it is aborted and the reason recorded, if any, names it.
    """
    if state in _DONE:
        return exit_code, None
    own = state == S.ABORTED and signal is not None and (not reason or f"signal {signal}" in reason)
    return None, signal if own else None


def brief_cause(state: str, exit_code: int | None, signal: int | None = None, reason: str = "") -> str:
    """Return `exit 7` or `SIGKILL` where that is why a job failed, else nothing; `reason`: as recorded."""
    if outcome_of(state, exit_code) is not Outcome.FAILED:
        return ""
    code, number = ended_by(state, exit_code, signal, reason)
    if code is not None:
        return f"exit {code}"
    return "" if number is None else _signal_name(number)


def failure_cause(state: str, exit_code: int | None, signal: int | None = None, reason: str = "") -> str:
    """Return why a job failed: exit code, name of the signal, or else the reason recorded; empty if it did
    not fail."""
    failed = outcome_of(state, exit_code) is Outcome.FAILED
    return brief_cause(state, exit_code, signal, reason) or (reason if failed else "")


def failure_line(
    state: str, exit_code: int | None, signal: int | None = None, reason: str = "", error_line: str = ""
) -> str:
    """Return why a job failed as one line: `Exit 7 · what it wrote last`; empty if it did not fail.

    `error_line`: the last meaningful line of its standard error, empty if there is none.
    """
    if outcome_of(state, exit_code) is not Outcome.FAILED:
        return ""
    brief = brief_cause(state, exit_code, signal, reason)
    if not brief:
        parts = [reason, error_line]
    elif state == S.ABORTED and not error_line:
        parts = [reason or brief]
    else:
        parts = [f"{brief[:1].upper()}{brief[1:]}", error_line]
    return " · ".join(" ".join(part.split()) for part in parts if part)


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def may_have_output(row: Mapping[str, Any]) -> bool:
    """True for an ended job, by its row, that ever began: one that was canceled before has made nothing."""
    state = row["state"]
    return state in (S.DONE, S.CLEARED) or (state in (S.ABORTED, S.CANCELED) and bool(row.get("started")))
