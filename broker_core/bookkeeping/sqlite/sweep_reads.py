"""The jobs of sweeps in what is read from the store, beside the rows and events that are written.

A job counts as begun if its events are in the connection's view, so that within one read transaction
each job is seen exactly once.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from broker_core.bookkeeping.sqlite.codec import JOB_COLUMNS, record_row
from broker_core.bookkeeping.sqlite.sweep_rows import begun, common_number
from broker_core.jobs.events import JobEvent
from broker_core.jobs.states import JobState
from broker_core.jobs.sweep import Sweep

Numbered = tuple[int, tuple[Any, ...]]
"""Number of a job in the table, and its values."""


def chosen(sweeps: Sequence[Sweep], owner: str, states: Sequence[JobState] = ()) -> list[Sweep]:
    """Sweeps of an owner (empty: of all) whose jobs are in one of the states (none: in any)."""
    return [
        sweep
        for sweep in sweeps
        if (not owner or sweep.owner == owner) and (not states or sweep.story[-1].new in states)
    ]


def counted(connection: sqlite3.Connection, sweeps: Sequence[Sweep]) -> Counter[str]:
    """State to number of the jobs that share their sweep's story."""
    found: Counter[str] = Counter()
    for sweep in sweeps:
        found[sweep.story[-1].new.value] += common_number(connection, sweep)
    return found


def rows_before(
    connection: sqlite3.Connection, sweeps: Sequence[Sweep], before: int, limit: int, names: Sequence[str]
) -> list[Numbered]:
    """At most `limit` jobs with the highest numbers below `before`, the highest first."""
    found: list[Numbered] = []
    for sweep in reversed(sweeps):
        if len(found) >= limit:
            break
        if sweep.first < before:
            found += _rows(connection, sweep, before, limit - len(found), names)
    return found


def _rows(
    connection: sqlite3.Connection, sweep: Sweep, before: int, limit: int, names: Sequence[str]
) -> Iterator[Numbered]:
    common = dict(zip(JOB_COLUMNS, record_row(sweep.common()), strict=True))
    gone = begun(connection, sweep, high=before)
    highest = min(len(sweep.ids), -(-(before - sweep.first) // len(sweep.story)))
    for index in range(highest - 1, -1, -1):
        if limit and index not in gone:
            limit -= 1
            own = {
                "id": sweep.ids[index],
                "name": sweep.name(index),
                "parameter": sweep.values[index],
                "position": sweep.place(index),
            }
            yield sweep.number(index), tuple(own.get(name, common[name]) for name in names)
        elif not limit:
            return


def events_after(
    connection: sqlite3.Connection, sweeps: Sequence[Sweep], position: int, limit: int
) -> list[JobEvent]:
    """Events that are not written yet behind a position, in order, at most `limit`."""
    found: list[JobEvent] = []
    for sweep in sweeps:
        if len(found) >= limit:
            break
        if sweep.last > position:
            found += _events(connection, sweep, position, limit - len(found))
    return found


def _events(connection: sqlite3.Connection, sweep: Sweep, position: int, limit: int) -> list[JobEvent]:
    gone = begun(connection, sweep)
    found: list[JobEvent] = []
    lowest = max(0, (position + 1 - sweep.first) // len(sweep.story))
    for index in range(lowest, len(sweep.ids)):
        if len(found) >= limit:
            break
        if index not in gone:
            found += (event for event in sweep.events(index) if event.position > position)
    return found[:limit]
