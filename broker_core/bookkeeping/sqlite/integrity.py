"""What is verified when a store is opened: the events of live jobs, and the end of the log (case 5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from broker_core.bookkeeping.faults import REPAIR
from broker_core.bookkeeping.replay import Replay
from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, event_of, intact, record_of
from broker_core.bookkeeping.sqlite.connection import connect_examiner
from broker_core.bookkeeping.sqlite.reads import NUMBERED, damaged_event
from broker_core.bookkeeping.sqlite.schema import LIVE
from broker_core.bookkeeping.sqlite.sweep_rows import begun
from broker_core.errors import StoreDamaged
from broker_core.jobs.record import JobRecord, relinked
from broker_core.jobs.sweep import Sweep

TAIL = 1000
"""Events at the end of the log that are verified at every opening."""

_EVENTS = ", ".join(f"e.{name}" for name in EVENT_COLUMNS)
_OF_LIVE = (
    f"SELECT {_EVENTS} FROM (SELECT id, number FROM jobs WHERE {LIVE}) AS j"
    " CROSS JOIN events AS e ON e.job = j.id ORDER BY j.number, e.seq"
)
_TAIL = f"SELECT {_EVENTS} FROM events AS e ORDER BY e.position DESC LIMIT {TAIL}"


def verified_live(path: Path, sweeps: Sequence[Sweep] = ()) -> list[JobRecord]:
    """Records of the jobs that have not ended, those that share the story of a sweep too.

    Raises StoreDamaged if they, their events or the last events of the log are not what was written.
    """
    connection = connect_examiner(path)
    try:
        rows = connection.execute(f"{NUMBERED} WHERE {LIVE} ORDER BY number")
        live = [(row[0], _record(row[1:])) for row in rows]
        check_live(connection, [record for _, record in live])
        check_tail(connection)
        for sweep in sweeps:
            gone = begun(connection, sweep)
            live += (
                (sweep.number(index), sweep.record(index))
                for index in range(len(sweep.ids))
                if index not in gone
            )
        return [record for _, record in sorted(live, key=itemgetter(0))]
    finally:
        connection.close()


def _record(row: Sequence[Any]) -> JobRecord:
    try:
        return record_of(row)
    except ValueError:
        raise damaged_row(str(row[0]), row[-2]) from None


def check_live(connection: sqlite3.Connection, live: Sequence[JobRecord]) -> None:
    """Replay the events of every live job and compare; raises StoreDamaged naming the first bad record."""
    replay = Replay()
    for row in connection.execute(_OF_LIVE):
        if not intact(row):
            raise damaged_event(row[0], row[1])
        replay.take(event_of(row))
    for record in live:
        due = replay.rows.get(record.id)
        # What it repeats may be another job than its own events say, as that one was removed (purging.py).
        if due is None or relinked(due, record.rerun_of) != record:
            raise damaged_row(record.id, record.position)


def check_tail(connection: sqlite3.Connection) -> None:
    """Verify the last events; raises StoreDamaged naming the first bad one."""
    for row in connection.execute(_TAIL):
        if not intact(row):
            raise damaged_event(row[0], row[1])


def damaged_row(job: str, position: object) -> StoreDamaged:
    """The error that names a row which is not what its events add up to."""
    return StoreDamaged(
        "The row of a job is not what its events add up to.",
        place=f"job {job}, last event at position {position}",
        remedy=REPAIR,
    )
