"""How a batch went over time, and why its jobs failed. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from broker_core.jobs.outcome import Outcome, brief_cause, outcome_of
from broker_core.jobs.site_names import site_name

Columns = Mapping[str, Sequence[Any]]
_POINTS = 500
"""Moments that are drawn, at most."""
_VALUE = "…"
"""Stands for the value of a job in a reason that names it."""


class BatchCourse(NamedTuple):
    """How many jobs ran, were done and had failed at each of some moments, which rise."""

    times: list[float]
    running: list[int]
    done: list[int]
    failed: list[int]


class FailureGroup(NamedTuple):
    """Jobs that failed in the same way."""

    reason: str
    """Last line of the standard error or, without one, the reason recorded."""
    cause: str
    """`exit 3` or `SIGKILL`; empty if neither is known."""
    sites: str
    """Where, with the number of jobs at each if there are several: `labhost 5, local 3`."""
    jobs: tuple[str, ...]


def course_of(columns: Columns, numbers: Sequence[int], now: float) -> BatchCourse:
    """Count the jobs of these rows from the first submission on, up to now while any goes on."""
    steps: list[tuple[float, int, int, int]] = []
    for at in numbers:
        begin, end = columns["started"][at], columns["ended"][at]
        outcome = outcome_of(columns["state"][at], columns["exit_code"][at])
        if begin:
            steps.append((begin, 1, 0, 0))
        if end:
            steps.append((end, -1 if begin else 0, outcome is Outcome.DONE, outcome is Outcome.FAILED))
    if not steps:
        return BatchCourse([], [], [], [])
    times, lines = [min(columns["submitted"][at] for at in numbers)], ([0], [0], [0])
    for moment, *changes in sorted(steps):
        for line, change in zip(lines, changes, strict=True):
            line += (line[-1], line[-1] + change)  # it steps: nothing changed until that moment
        times += (moment, moment)
    if lines[0][-1]:
        times.append(now)
        for line in lines:
            line.append(line[-1])
    thinned = _thinned(len(times))
    running, done, failed = ([line[at] for at in thinned] for line in lines)
    return BatchCourse([times[at] for at in thinned], running, done, failed)


def _thinned(number: int) -> list[int]:
    step = max(1, number // _POINTS)
    return [*range(0, number, step), *([number - 1] if (number - 1) % step else [])]


def failures_of(columns: Columns, numbers: Sequence[int]) -> list[FailureGroup]:
    """Group the failed jobs of these rows by what they line last and how they ended; the largest first."""
    groups: dict[tuple[str, str], list[int]] = {}
    for at in numbers:
        state, code = columns["state"][at], columns["exit_code"][at]
        if outcome_of(state, code) is not Outcome.FAILED:
            continue
        reason = columns["reason"][at] or ""
        cause = brief_cause(state, code, columns["signal"][at], reason)
        line = _without(columns["error_line"][at] or "", columns["parameter"][at]) or reason
        groups.setdefault((line, cause), []).append(at)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        FailureGroup(reason, cause, _sites(columns, rows), tuple(columns["id"][at] for at in rows))
        for (reason, cause), rows in ordered
    ]


def value_order(value: str) -> tuple[int, float, str]:
    """What values are ordered by: numbers by their size, then texts."""
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, value


def _without(text: str, value: str) -> str:
    """A text that names the value of its job says the same for all of them."""
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", _VALUE, text) if value else text


def _sites(columns: Columns, numbers: Sequence[int]) -> str:
    counts = Counter(site_name(columns["site"][at]) for at in numbers if columns["site"][at])
    if len(counts) < 2:
        return next(iter(counts), "")
    return ", ".join(f"{site} {number:,}" for site, number in sorted(counts.items()))
