"""The fields of the query language: each makes a test of a row from the text after its colon. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Any

from app.model import when
from broker_core.jobs.states import JobState

Test = Callable[[Mapping[str, Sequence[Any]], int, float], bool]
"""(columns, row number, now) to whether the row is wanted."""

_NUMBER = re.compile(r"(>=|<=|!=|≠|≥|≤|>|<|=)?\s*(.+)$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "": operator.eq,
    "≠": operator.ne,
    "!=": operator.ne,
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
}
_STATES = {state.value.lower(): frozenset({state.value}) for state in JobState} | {
    "active": frozenset(state.value for state in JobState if state.active),
    "queued": frozenset({"Submitted", "Waiting", "Ready", "Scheduled"}),
    "ended": frozenset(state.value for state in JobState if state.ended),
    "cancelled": frozenset({"Canceled"}),
}


class Refused(Exception):
    """The text after the colon means nothing; the message says what would."""


def is_failed(columns: Mapping[str, Sequence[Any]], row: int) -> bool:
    """True for Aborted, and for Done or Cleared with an exit code other than 0."""
    state = columns["state"][row]
    return state == "Aborted" or (state in ("Done", "Cleared") and bool(columns["exit_code"][row]))


def _state(text: str) -> Test:
    if text == "failed":
        return lambda columns, row, now: is_failed(columns, row)
    if text == "held":
        return lambda columns, row, now: columns["state"][row] == "Waiting" and bool(columns["held"][row])
    wanted = frozenset().union(*(names for word, names in _STATES.items() if word.startswith(text)))
    if not wanted:
        raise Refused(f"There is no state {text!r}. States are {', '.join(JobState)}, and failed, queued, "
                      "active, ended or held.")  # fmt: skip
    return lambda columns, row, now: columns["state"][row] in wanted


def _text(column: str) -> Callable[[str], Test]:
    def make(text: str) -> Test:
        if any(mark in text for mark in "*?["):
            pattern = re.compile(translate(text), re.IGNORECASE).match
            return lambda columns, row, now: pattern(columns[column][row]) is not None
        return lambda columns, row, now: text in columns[column][row].lower()

    return make


def _compare(text: str, read: Callable[[str], float | None], what: str) -> tuple[Callable[..., bool], float]:
    found = _NUMBER.match(text)
    limit = read(found[2]) if found else None
    if found is None or limit is None:
        raise Refused(f"{text!r} is no {what}. Write e.g. {_EXAMPLE[what]}.")
    return _COMPARE[found[1] or ""], limit


_EXAMPLE = {"number": ">4, <=8 or ≠0", "duration": "<2h, >30m or >90s"}


def _number(column: str) -> Callable[[str], Test]:
    def make(text: str) -> Test:
        compare, limit = _compare(text, _float, "number")

        def test(columns: Mapping[str, Sequence[Any]], row: int, now: float) -> bool:
            value = columns[column][row]
            return value is not None and compare(value, limit)

        return test

    return make


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _lasted(begin: str, end: str) -> Callable[[str], Test]:
    """Time from one stamp to another, or to now while the other is missing."""

    def make(text: str) -> Test:
        compare, limit = _compare(text, when.seconds, "duration")

        def test(columns: Mapping[str, Sequence[Any]], row: int, now: float) -> bool:
            first = columns[begin][row]
            if not first:
                return False
            last = (columns[end][row] or columns["ended"][row]) if end else None
            return compare((last or now) - first, limit)

        return test

    return make


def _on(column: str, also: Callable[..., bool] | None = None) -> Callable[[str], Test]:
    def make(text: str) -> Test:
        if when.span(text, 0.0) is None:
            raise Refused(
                f"{text!r} is no day. Write today, yesterday, week, 2h, 7d or a date like 2026-11-20."
            )

        def test(columns: Mapping[str, Sequence[Any]], row: int, now: float) -> bool:
            moment = columns[column][row]
            first, last = when.span(text, now) or (0.0, 0.0)
            return moment is not None and first <= moment < last and (also is None or also(columns, row))

        return test

    return make


def _kind(text: str) -> Test:
    if "interactive".startswith(text):
        return lambda columns, row, now: bool(columns["interactive"][row])
    if "batch".startswith(text):
        return lambda columns, row, now: not columns["interactive"][row]
    return lambda columns, row, now: columns["structure"][row].lower().startswith(text)


@dataclass(frozen=True, slots=True)
class Field:
    """A word before a colon."""

    make: Callable[[str], Test]
    about: str
    values: tuple[str, ...] = ()
    """Offered by completion."""


_STATE_WORDS = ("running", "waiting", "done", "failed", "aborted", "canceled", "queued", "active", "held",
                "submitted", "ready", "scheduled", "cleared", "ended")  # fmt: skip
_DAYS = ("today", "yesterday", "week")

FIELDS: dict[str, Field] = {
    "state": Field(_state, "State of the job, or failed, queued, active, ended, held", _STATE_WORDS),
    "name": Field(_text("name"), "Name; * and ? stand for anything"),
    "site": Field(_text("site"), "Computing element it runs or ran at"),
    "cpu": Field(_number("cpus"), "CPUs, e.g. cpu:>4", (">1", ">4")),
    "exit": Field(_number("exit_code"), "Exit code, e.g. exit:≠0", ("0", "≠0")),
    "failed": Field(_on("ended", is_failed), "Failed on a day or within a time", _DAYS),
    "submitted": Field(_on("submitted"), "Submitted on a day or within a time", _DAYS),
    "ended": Field(_on("ended"), "Ended on a day or within a time", _DAYS),
    "age": Field(_lasted("submitted", ""), "Time since submission, e.g. age:<2h", ("<1h", "<1d")),
    "wait": Field(
        _lasted("submitted", "started"), "Time from submission to start, e.g. wait:>10m", (">10m",)
    ),
    "runtime": Field(_lasted("started", "ended"), "Run time, e.g. runtime:>1h", (">1h",)),
    "kind": Field(
        _kind, "normal, parallel, interactive or batch", ("normal", "parallel", "interactive", "batch")
    ),
    "id": Field(_text("id"), "Identifier, or a part of it"),
    "batch": Field(_text("batch"), "Batch of a submission"),
    "param": Field(_text("parameter"), "Value of the parameter"),
    "reason": Field(_text("reason"), "Words of the reason"),
    "signal": Field(_number("signal"), "Signal that ended it"),
}
"""Every field, in the order in which completion shows them."""
