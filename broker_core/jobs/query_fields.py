"""The fields of the query language: each makes a test of a row from the text after its colon. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import translate
from functools import lru_cache
from typing import Any

from broker_core.jobs.outcome import Outcome, cases, ended_by, outcome_of
from broker_core.jobs.states import JobState

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|m|min|h|d|w)?$")
_UNIT = {None: 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
Test = Callable[[Mapping[str, Sequence[Any]], int, float], bool]
"""(columns, row number, now) to whether the row is wanted."""
Read = Callable[[Mapping[str, Sequence[Any]], int], float | None]
"""The number of a row, if it has one."""
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
_OUTCOMES = {one.value.lower(): frozenset({one}) for one in Outcome if one is not Outcome.UNKNOWN} | {
    "active": frozenset(one for one in Outcome if one.active),
    "queued": frozenset({Outcome.SUBMITTED, Outcome.WAITING, Outcome.READY, Outcome.SCHEDULED}),
    "ended": frozenset(one for one in Outcome if one.ended),
    "cancelled": frozenset({Outcome.CANCELED}),
}
_ENDS = {state.value.lower(): state for state in (JobState.ABORTED, JobState.CLEARED)}
"""States that the story of a job tells apart within an outcome: ended by an error, output fetched."""
_EXAMPLE = {"number": ">4, <=8 or ≠0", "duration": "<2h, >30m or >90s", "size": ">4G, <500M or >=1.5G"}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$", re.IGNORECASE)
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_STATE_WORDS = ("running", "waiting", "done", "failed", "canceled", "queued", "active", "held",
                "submitted", "ready", "scheduled", "ended", "cleared", "aborted")  # fmt: skip
_DAYS = ("today", "yesterday", "week")


def duration_seconds(text: str) -> float | None:
    """Return the seconds of `90`, `90s`, `5m`, `2h`, `3d` or `1w`; None if it is none of these."""
    found = _DURATION.match(text)
    return float(found[1]) * _UNIT[found[2]] if found else None


@lru_cache(maxsize=64)
def day_span(text: str, now: float) -> tuple[float, float] | None:
    """Return the local-time span of `today`, `yesterday`, `week`, `2026-11-20` or a duration before now."""
    midnight = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    one = timedelta(days=1)
    if text == "today":
        return midnight.timestamp(), (midnight + one).timestamp()
    if text == "yesterday":
        return (midnight - one).timestamp(), midnight.timestamp()
    if text == "week":
        return (midnight - 6 * one).timestamp(), (midnight + one).timestamp()
    length = duration_seconds(text)
    if length is not None:
        return now - length, float("inf")
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        return None
    return day.timestamp(), (day + one).timestamp()


class QueryRefused(Exception):
    """The text after the colon means nothing; the message says what would."""


def is_failed(columns: Mapping[str, Sequence[Any]], row: int) -> bool:
    """True if the outcome of a row is Failed."""
    return outcome_of(columns["state"][row], columns["exit_code"][row]) is Outcome.FAILED


def _state(text: str) -> Test:
    if text == "held":
        return lambda columns, row, now: columns["state"][row] == "Waiting" and bool(columns["held"][row])
    wanted = {one for word, those in _OUTCOMES.items() if word.startswith(text) for one in those}
    ends = {state for word, state in _ENDS.items() if word.startswith(text)}
    if not wanted and not ends:
        raise QueryRefused(f"There is no state {text!r}. Write one of {', '.join(_STATE_WORDS)}.")
    # Cases of all outcomes are few: a row is looked up once.
    rows = {case for one in Outcome for case in cases(one) if one in wanted or case[0] in ends}
    return lambda columns, row, now: (columns["state"][row], bool(columns["exit_code"][row])) in rows


def _text(column: str) -> Callable[[str], Test]:
    def make(text: str) -> Test:
        if any(mark in text for mark in "*?["):
            pattern = re.compile(translate(text), re.IGNORECASE).match
            return lambda columns, row, now: pattern(columns[column][row]) is not None
        return lambda columns, row, now: text in columns[column][row].lower()

    return make


def _tag(text: str) -> Test:
    """A tag of the job is just this word, or fits it with * and ?; other cases of letters are the same."""
    wanted = text.casefold()
    if not any(mark in wanted for mark in "*?["):
        return lambda columns, row, now: wanted in columns["tags"][row].casefold().split()
    fits = re.compile(translate(wanted)).match
    return lambda columns, row, now: any(map(fits, columns["tags"][row].casefold().split()))


def _compare(text: str, read: Callable[[str], float | None], what: str) -> tuple[Callable[..., bool], float]:
    found = _NUMBER.match(text)
    limit = read(found[2]) if found else None
    if found is None or limit is None:
        raise QueryRefused(f"{text!r} is no {what}. Write e.g. {_EXAMPLE[what]}.")
    return _COMPARE[found[1] or ""], limit


def _end(which: int) -> Read:
    """Exit code (0) or signal (1) by which a program ended; not what an attempt before it left."""

    def read(columns: Mapping[str, Sequence[Any]], row: int) -> float | None:
        if columns["exit_code"][row] is None and columns["signal"][row] is None:
            return None
        known = columns["state"][row], columns["exit_code"][row], columns["signal"][row]
        return ended_by(*known, columns["reason"][row] or "")[which]

    return read


def _cpus(columns: Mapping[str, Sequence[Any]], row: int) -> float | None:
    return columns["cpus"][row]  # type: ignore[no-any-return]


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def size_bytes(text: str) -> float | None:
    """Return the bytes of `500M`, `1.5G` or `2048`; None if it is none of these."""
    found = _SIZE.match(text)
    return float(found[1]) * _BYTES[found[2].lower()] if found else None


def _memory(columns: Mapping[str, Sequence[Any]], row: int) -> float | None:
    return columns["memory"][row]  # type: ignore[no-any-return]


def _number(
    read: Read, of: Callable[[str], float | None] = _float, what: str = "number"
) -> Callable[[str], Test]:
    def make(text: str) -> Test:
        compare, limit = _compare(text, of, what)

        def test(columns: Mapping[str, Sequence[Any]], row: int, now: float) -> bool:
            value = read(columns, row)
            return value is not None and compare(value, limit)

        return test

    return make


def _lasted(begin: str, end: str) -> Callable[[str], Test]:
    """Time from one stamp to another, or to now while the other is missing."""

    def make(text: str) -> Test:
        compare, limit = _compare(text, duration_seconds, "duration")

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
        if day_span(text, 0.0) is None:
            raise QueryRefused(
                f"{text!r} is no day. Write today, yesterday, week, 2h, 7d or a date like 2026-11-20."
            )

        def test(columns: Mapping[str, Sequence[Any]], row: int, now: float) -> bool:
            moment = columns[column][row]
            first, last = day_span(text, now) or (0.0, 0.0)
            return moment is not None and first <= moment < last and (also is None or also(columns, row))

        return test

    return make


def _kind(text: str) -> Test:
    if "interactive".startswith(text):
        return lambda columns, row, now: bool(columns["interactive"][row])
    if "batch".startswith(text):
        return lambda columns, row, now: not columns["interactive"][row]
    return lambda columns, row, now: columns["structure"][row].lower().startswith(text)


def _outside(text: str) -> Test:
    """These stand in columns of their own, so that all rows of a table are such jobs, or none is."""
    if text not in ("yes", "no"):
        raise QueryRefused(f"{text!r} says nothing here. Write outside:yes.")
    return lambda columns, row, now: ("outside" in columns) is (text == "yes")


@dataclass(frozen=True, slots=True)
class QueryField:
    """A word before a colon."""

    make: Callable[[str], Test]
    about: str
    values: tuple[str, ...] = ()
    """Offered by completion."""
    alone: str = ""
    """What it means without a value; empty: it needs one."""


FIELDS: dict[str, QueryField] = {
    "state": QueryField(
        _state, "How the job stands: done, failed, queued, active, ended, held, ...", _STATE_WORDS
    ),
    "name": QueryField(_text("name"), "Name; * and ? stand for anything"),
    "site": QueryField(_text("site"), "Computing element it runs or ran at"),
    "cpu": QueryField(_number(_cpus), "CPUs, e.g. cpu:>4", (">1", ">4")),
    "exit": QueryField(_number(_end(0)), "Exit code, e.g. exit:≠0", ("0", "≠0")),
    "failed": QueryField(_on("ended", is_failed), "Failed on a day or within a time", _DAYS),
    "submitted": QueryField(_on("submitted"), "Submitted on a day or within a time", _DAYS),
    "ended": QueryField(_on("ended"), "Ended on a day or within a time", _DAYS),
    "age": QueryField(_lasted("submitted", ""), "Time since submission, e.g. age:<2h", ("<1h", "<1d")),
    "wait": QueryField(
        _lasted("submitted", "started"), "Time from submission to start, e.g. wait:>10m", (">10m",)
    ),
    "runtime": QueryField(_lasted("started", "ended"), "Run time, e.g. runtime:>1h", (">1h",)),
    "memory": QueryField(
        _number(_memory, size_bytes, "size"), "Most memory that it used, e.g. memory:>4G", (">1G", ">4G")
    ),
    "kind": QueryField(
        _kind, "normal, parallel, interactive or batch", ("normal", "parallel", "interactive", "batch")
    ),
    "id": QueryField(_text("id"), "Identifier, or a part of it"),
    "batch": QueryField(_text("batch"), "Batch of a submission"),
    "param": QueryField(_text("parameter"), "Value of the parameter"),
    "reason": QueryField(_text("reason"), "Words of the reason"),
    "tag": QueryField(_tag, "Tag that you gave it, e.g. tag:calib; -tag:* finds jobs without any", ("*",)),
    "note": QueryField(_text("note"), "Words of the note that you wrote on it"),
    "outside": QueryField(
        _outside, "Jobs that were submitted outside CrossDesk: outside:yes", ("yes",), alone="yes"
    ),
    "signal": QueryField(_number(_end(1)), "Signal that ended it"),
}
"""Every field, in the order in which completion shows them."""
