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
    course = BatchCourse([min(columns["submitted"][at] for at in numbers)], [0], [0], [0])
    for moment, *changes in sorted(steps):
        for line, change in zip(course[1:], changes, strict=True):
            line.append(line[-1] + change)
        course.times.append(moment)
    if course.running[-1]:
        for line, last in zip(course, (now, *(line[-1] for line in course[1:])), strict=True):
            line.append(last)  # type: ignore[arg-type]
    step = max(1, len(course.times) // _POINTS)
    return BatchCourse(*(line[::step] + (line[-1:] if (len(line) - 1) % step else []) for line in course))


def failures_of(columns: Columns, numbers: Sequence[int]) -> list[FailureGroup]:
    """Group the failed jobs of these rows by what they said last and how they ended; the largest first."""
    groups: dict[tuple[str, str], list[int]] = {}
    for at in numbers:
        state, code = columns["state"][at], columns["exit_code"][at]
        if outcome_of(state, code) is not Outcome.FAILED:
            continue
        reason = columns["reason"][at] or ""
        cause = brief_cause(state, code, columns["signal"][at], reason)
        said = columns["error_line"][at] or reason
        groups.setdefault((_without(said, columns["parameter"][at]), cause), []).append(at)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        FailureGroup(reason, cause, _sites(columns, rows), tuple(columns["id"][at] for at in rows))
        for (reason, cause), rows in ordered
    ]


def _without(text: str, value: str) -> str:
    """A text that names the value of its job says the same for all of them."""
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", _VALUE, text) if value else text


def _sites(columns: Columns, numbers: Sequence[int]) -> str:
    counts = Counter(site_name(columns["site"][at]) for at in numbers if columns["site"][at])
    if len(counts) < 2:
        return next(iter(counts), "")
    return ", ".join(f"{site} {number:,}" for site, number in sorted(counts.items()))
