"""The columns of the resources table (CB-UI-09): what each shows and sorts by."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app import units
from app.resources.countries import name_of
from app.widgets.state_style import StateShape
from broker_core.jobs.site_names import queue_name

Held = Mapping[str, Sequence[Any]]
Cell = Callable[[Held, int, float], str]

STATES: dict[str, tuple[StateShape, str, str]] = {
    "down": (StateShape.CROSS, "negative", "Down"),
    "bad": (StateShape.EXCLAMATION, "warning", "Bad for now"),
    "throttled": (StateShape.EXCLAMATION, "warning", "Throttled"),
    "drained": (StateShape.PAUSE, "muted", "Drained"),
    "stale": (StateShape.QUESTION, "state-Unheard", "Stale"),
}
"""Mark to its shape, colour token and word, the one that matters most first."""
_FINE = (StateShape.CHECK, "positive", "Up")
_NO_ACCESS = (StateShape.HOLLOW, "muted", "No account")
NAMES = {"site", "ce", "country", "lrms", "lock_owner", "sources", "state"}
"""What sorts as text; everything else as numbers."""
_SLICE = 2000
_REST_S = 0.002
"""Seconds between two slices."""
_SEARCHED = ("site", "ce", "lrms", "marks", "sources", "lock_owner")


def state_of(held: Held, row: int) -> tuple[StateShape, str, str]:
    """Return shape, colour token and word of a resource's state."""
    marks = {mark.strip() for mark in (held["marks"][row] or "").split(",")}
    for mark, style in STATES.items():
        if mark in marks:
            return style
    return _FINE if held["access"][row] in (True, None) else _NO_ACCESS


@dataclass(frozen=True, slots=True)
class ResourceColumn:
    """One column; `cell` gives its text from (columns, row, now), `by` names the column it sorts by."""

    name: str
    title: str
    width: int
    cell: Cell
    by: str = ""
    right: bool = False
    shown: bool = True
    tone: str = "muted"


def _said(name: str) -> Cell:
    return lambda held, row, now: str(held[name][row] or "")


def _number(name: str) -> Cell:
    return lambda held, row, now: "" if held[name][row] is None else f"{held[name][row]:,}"


def _some(name: str) -> Cell:
    return lambda held, row, now: f"{held[name][row]:,}" if held[name][row] else ""


def _lock(held: Held, row: int, now: float) -> str:
    owner, until = held["lock_owner"][row], held["lock_until"][row]
    if not owner:
        return ""
    return f"{owner}, {units.duration(max(0.0, until - now))} left" if until else str(owner)


def _country(held: Held, row: int, now: float) -> str:
    return name_of(held["country"][row] or "")


def _names(name: str) -> Cell:
    return lambda held, row, now: ", ".join((held[name][row] or "").replace(" ", "").split(","))


COLUMNS: tuple[ResourceColumn, ...] = (
    ResourceColumn(
        "state", "State", 112, lambda held, row, now: state_of(held, row)[2], "state", tone="text"
    ),
    ResourceColumn("site", "Site", 130, _said("site"), tone="text"),
    ResourceColumn("queue", "Queue", 112, lambda held, row, now: queue_name(held["ce"][row]), "ce"),
    ResourceColumn("ce", "Computing element", 260, _said("ce"), shown=False),
    ResourceColumn("country", "Country", 104, _country, shown=False),
    ResourceColumn("lrms", "Batch system", 92, _said("lrms"), shown=False),
    ResourceColumn("free_cpus", "Free", 64, _number("free_cpus"), right=True, tone="text"),
    ResourceColumn("total_cpus", "CPUs", 64, _number("total_cpus"), right=True),
    ResourceColumn("committed", "Committed", 84, _some("committed"), right=True, shown=False),
    ResourceColumn("running", "Running", 72, _some("running"), right=True, shown=False),
    ResourceColumn("waiting", "Waiting", 68, _some("waiting"), right=True),
    ResourceColumn("updated", "Heard", 88, lambda held, row, now: units.ago(held["updated"][row], now)),
    ResourceColumn("lock", "Locked by", 150, _lock, "lock_owner", shown=False),
    ResourceColumn("sources", "Sources", 116, _names("sources"), shown=False),
    ResourceColumn("tags", "Tags", 56, _some("tags"), right=True, shown=False),
)
BY_NAME = {column.name: place for place, column in enumerate(COLUMNS)}
"""Column name to its place."""


def searchable(held: Held) -> list[str]:
    """Return for each row what the filter looks through, in small letters."""
    columns = [held[name] for name in (*_SEARCHED, "country")]

    def text(row: int) -> str:
        *parts, country = (column[row] or "" for column in columns)
        return " ".join(map(str, (*parts, name_of(country)))).lower()

    return _of_each_row(len(held["ce"]), text)


def ranks(held: Held, by: str) -> np.ndarray:
    """Return for each row its rank by a column; rows with equal values share one."""
    if by == "state":
        return _text_ranks(_of_each_row(len(held["ce"]), lambda row: state_of(held, row)[2]))
    if by in NAMES:
        values = held[by]
        return _text_ranks(_of_each_row(len(values), lambda row: str(values[row] or "").lower()))
    numbers = np.array([-1.0 if value is None else float(value) for value in held[by]])
    return np.unique(numbers, return_inverse=True)[1]


def arranged(ranked: np.ndarray, texts: Sequence[str], wanted: str, descending: bool) -> list[int]:
    """Return the rows in which every word of `wanted` occurs, by their ranks; equal rows stay by name."""
    needles = wanted.lower().split()
    rows = np.arange(len(texts))
    if needles:
        found = [row for row, text in enumerate(texts) if all(needle in text for needle in needles)]
        rows = np.array(found, dtype=np.int64)
    order = np.argsort(ranked[rows], kind="stable")
    ordered: list[int] = rows[order[::-1] if descending else order].tolist()
    return ordered


def _of_each_row(number: int, text: Callable[[int], str]) -> list[str]:
    """The texts of all rows, for a thread: it rests now and then, else the window gets half of the time."""
    found: list[str] = []
    never = threading.Event()
    for start in range(0, number, _SLICE):
        if start:
            never.wait(_REST_S)
        found += map(text, range(start, min(start + _SLICE, number)))
    return found


def _text_ranks(values: list[str]) -> np.ndarray:
    """In slices: many texts are sorted, or made an array, in one step that lets no other thread go on."""
    parts = [sorted(set(values[start : start + _SLICE])) for start in range(0, len(values), _SLICE)]
    rank: dict[str, int] = {}
    for text in heapq.merge(*parts):
        rank.setdefault(text, len(rank))
    return np.fromiter((rank[value] for value in values), np.int64, len(values))
