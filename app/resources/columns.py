"""The columns of the resources table (CB-UI-09): what each shows and sorts by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.match.candidates import queue_name
from app.model import words
from app.resources.countries import name_of
from app.theme.faces import Shape

Held = Mapping[str, Sequence[Any]]
Cell = Callable[[Held, int, float], str]

STATES: dict[str, tuple[Shape, str, str]] = {
    "down": (Shape.CROSS, "negative", "Down"),
    "bad": (Shape.EXCLAMATION, "warning", "Bad for now"),
    "throttled": (Shape.EXCLAMATION, "warning", "Throttled"),
    "drained": (Shape.PAUSE, "muted", "Drained"),
    "stale": (Shape.QUESTION, "state-Unheard", "Stale"),
}
"""Mark to its shape, colour token and word, the one that matters most first."""
_FINE = (Shape.CHECK, "positive", "Up")
_NO_ACCESS = (Shape.HOLLOW, "muted", "No account")


def state_of(held: Held, row: int) -> tuple[Shape, str, str]:
    """Return shape, colour token and word of a resource's state."""
    marks = {mark.strip() for mark in (held["marks"][row] or "").split(",")}
    for mark, face in STATES.items():
        if mark in marks:
            return face
    return _FINE if held["access"][row] in (True, None) else _NO_ACCESS


@dataclass(frozen=True, slots=True)
class Column:
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
    return f"{owner}, {words.duration(max(0.0, until - now))} left" if until else str(owner)


def _country(held: Held, row: int, now: float) -> str:
    return name_of(held["country"][row] or "")


def _names(name: str) -> Cell:
    return lambda held, row, now: ", ".join((held[name][row] or "").replace(" ", "").split(","))


COLUMNS: tuple[Column, ...] = (
    Column("state", "State", 112, lambda held, row, now: state_of(held, row)[2], "state", tone="text"),
    Column("site", "Site", 130, _said("site"), tone="text"),
    Column("queue", "Queue", 112, lambda held, row, now: queue_name(held["ce"][row]), "ce"),
    Column("ce", "Computing element", 260, _said("ce"), shown=False),
    Column("country", "Country", 104, _country, shown=False),
    Column("lrms", "Batch system", 92, _said("lrms"), shown=False),
    Column("free_cpus", "Free", 64, _number("free_cpus"), right=True, tone="text"),
    Column("total_cpus", "CPUs", 64, _number("total_cpus"), right=True),
    Column("committed", "Committed", 84, _some("committed"), right=True, shown=False),
    Column("running", "Running", 72, _some("running"), right=True, shown=False),
    Column("waiting", "Waiting", 68, _some("waiting"), right=True),
    Column("updated", "Heard", 88, lambda held, row, now: words.ago(held["updated"][row], now)),
    Column("lock", "Locked by", 150, _lock, "lock_owner", shown=False),
    Column("sources", "Sources", 116, _names("sources"), shown=False),
    Column("tags", "Tags", 56, _some("tags"), right=True, shown=False),
)
BY_NAME = {column.name: place for place, column in enumerate(COLUMNS)}
"""Column name to its place."""
NAMES = {"site", "ce", "country", "lrms", "lock_owner", "sources", "state"}
"""What sorts as text; everything else as numbers."""
