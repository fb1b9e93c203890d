"""Sweeps as rows of the store, and back."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import orjson

from broker_core.bookkeeping.faults import REPAIR
from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, event_of, event_row, json_text
from broker_core.errors import StoreDamaged
from broker_core.jobs.sweep import Sweep

COLUMNS = ("first", "last", "description", "files", "body", "checksum")
"""Columns of the sweeps table: places in the log, hashes of contents, JSON text with the rest."""
_BEGUN = "FROM events WHERE position BETWEEN ? AND ? AND seq = 1"
"""The first event of each job in a span of places whose own ones are written."""


def sweep_row(sweep: Sweep) -> tuple[Any, ...]:
    """The row of a sweep."""
    body = json_text(
        {
            "story": [event_row(event)[:-1] for event in sweep.story],
            "ids": sweep.ids,
            "names": sweep.names,
            "values": sweep.values,
        }
    )
    kept = (sweep.first, sweep.last, str(sweep.story[0].details["description"]), sweep.files, body)
    return (*kept, _checksum(kept))


def _checksum(kept: Sequence[Any]) -> bytes:
    return blake2b(orjson.dumps(kept), digest_size=8).digest()


def intact_sweep(row: Sequence[Any]) -> bool:
    """True if a row is what was written (reliability case 5)."""
    try:
        return bool(_checksum(row[:-1]) == row[-1])
    except TypeError:
        return False


def sweep_of(row: Sequence[Any]) -> Sweep:
    """The sweep that a row holds; raises StoreDamaged if it is not what was written."""
    if not intact_sweep(row):
        raise damaged_sweep(row[0])
    body = orjson.loads(row[4])
    story = tuple(event_of([*event, b""]) for event in body["story"])
    return Sweep(story, tuple(body["ids"]), tuple(body["names"]), tuple(body["values"]), row[3], row[0])


def damaged_sweep(first: object) -> StoreDamaged:
    """The error that names one bad sweep."""
    return StoreDamaged(
        "The record of a sweep is not what was written.", place=f"sweep at position {first}", remedy=REPAIR
    )


def stored_sweeps(connection: sqlite3.Connection) -> list[Sweep]:
    """All sweeps of a store in order; raises StoreDamaged at one that is not what was written."""
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM sweeps ORDER BY first")
    return [sweep_of(row) for row in rows]


def insert_sweep(connection: sqlite3.Connection, sweep: Sweep) -> None:
    """Write a sweep."""
    marks = ",".join("?" * len(COLUMNS))
    connection.execute(f"INSERT INTO sweeps ({', '.join(COLUMNS)}) VALUES ({marks})", sweep_row(sweep))


def begun(connection: sqlite3.Connection, sweep: Sweep, low: int = 0, high: int = 1 << 62) -> set[int]:
    """Indexes of the jobs of a sweep whose own events are written, of those with a place in a span."""
    rows = connection.execute(f"SELECT position {_BEGUN}", (max(low, sweep.first), min(high, sweep.last)))
    return {(position - sweep.first) // len(sweep.story) for (position,) in rows}


def common_number(connection: sqlite3.Connection, sweep: Sweep) -> int:
    """Number of the jobs that share their sweep's story: no events of their own are written."""
    (number,) = connection.execute(f"SELECT count(*) {_BEGUN}", (sweep.first, sweep.last)).fetchone()
    return len(sweep.ids) - int(number)



assert EVENT_COLUMNS[-1] == "checksum", "a story is kept without the checksums of its events"
