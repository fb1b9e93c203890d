"""Looking through a whole store: every event, every row (reliability case 5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker_core.bookkeeping.ballast import Ballast
from broker_core.bookkeeping.contents import altered, jobs_without_files
from broker_core.bookkeeping.faults import damage_of
from broker_core.bookkeeping.replay import LogReplay, Replay, folds_with
from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, JOB_COLUMNS, intact, record_of
from broker_core.bookkeeping.sqlite.connection import STORE_FILE, connect_examiner
from broker_core.bookkeeping.sqlite.reads import JOBS
from broker_core.bookkeeping.sqlite.schema import definitions, expected_definitions
from broker_core.bookkeeping.sqlite.sweep_rows import COLUMNS, intact_sweep
from broker_core.errors import CrossDeskError, NotFound, StoreDamaged
from broker_core.jobs.record import JobRecord

_SELECT = f"SELECT {', '.join(EVENT_COLUMNS)} FROM events WHERE position BETWEEN ? AND ? ORDER BY position"
_SPAN = 4096
_INTERACTIVE = JOB_COLUMNS.index("interactive")


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """One thing that is wrong in a store."""

    place: str
    """The record: `event at position N, job ID`, `job ID`, a table, or a page."""
    what: str
    job: str = ""
    """The job concerned, empty if it cannot be told or concerns none."""


@dataclass(slots=True)
class Examined:
    """What a look through the store has found."""

    replay: Replay = field(default_factory=Replay)
    findings: list[Inconsistency] = field(default_factory=list)
    bad_jobs: set[str] = field(default_factory=set)
    """Jobs of which an event is damaged or missing."""
    events: int = 0


def check(directory: Path) -> list[Inconsistency]:
    """Verify every page, event and row of the store in `directory`; an empty list means all is well.

    Reads only, so it may be used while a broker runs. Raises NotFound if there is no store.
    """
    path = directory / STORE_FILE
    if not path.is_file():
        if gone(directory):
            return [Inconsistency(str(path), "the store is gone")]
        raise NotFound("There is no store here.", place=str(directory))
    connection = connect_examiner(path)
    try:
        connection.execute("BEGIN")
        pages = [Inconsistency("pages of the store", str(text)) for text in _page_errors(connection)]
        pages += _table_errors(connection) + _content_errors(connection) + _sweep_errors(connection)
        examined = examine(connection)
        return pages + examined.findings + compare_rows(connection, examined)
    except sqlite3.Error as error:
        return [Inconsistency(str(path), damage_of(error, path).message)]
    finally:
        connection.close()


def gone(directory: Path) -> bool:
    """True if there was a store in `directory` and its file is not there any more."""
    return Ballast(directory).present and not (directory / STORE_FILE).is_file()


def said_nothing(path: Path) -> bool:
    """True if a store has lost the tables that hold its jobs, or all of its file."""
    if not path.is_file():
        return True
    with closing(connect_examiner(path)) as connection:
        try:
            found = {name for name, *_ in definitions(connection)}
        except sqlite3.Error:
            return True
    return not {"events", "jobs"} & found


def _page_errors(connection: sqlite3.Connection) -> list[str]:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
    return [] if found == ["ok"] else found


def _table_errors(connection: sqlite3.Connection) -> list[Inconsistency]:
    found, due = definitions(connection), expected_definitions()
    return [
        Inconsistency(f"table or index {name}", "is not defined as it was")
        for name, *_ in sorted(due - found)
    ]


def _content_errors(connection: sqlite3.Connection) -> list[Inconsistency]:
    damaged = [
        Inconsistency(f"table {table}, {sha}", "not what was written")
        for table in ("descriptions", "filesets")
        for sha in sorted(altered(connection, table))
    ]
    lost = sorted(jobs_without_files(connection))
    return damaged + [Inconsistency(f"job {job}", "its list of input files is lost", job) for job in lost]


def _sweep_errors(connection: sqlite3.Connection) -> list[Inconsistency]:
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM sweeps ORDER BY first")
    return [
        Inconsistency(f"sweep at position {row[0]}", "not what was written")
        for row in rows
        if not intact_sweep(row)
    ]


def examine(connection: sqlite3.Connection) -> Examined:
    """Replay all events that can be read, and tell which cannot."""
    examined = Examined()
    log = LogReplay(folds_with(examined.replay))
    for row in event_rows(connection, examined.findings):
        examined.events += 1
        _take(examined, log, row)
    return examined


def _take(examined: Examined, log: LogReplay, row: Sequence[Any]) -> None:
    position, job = row[0], str(row[1])
    if not intact(row):
        place = f"event at position {position}, job {job}"
        examined.findings.append(Inconsistency(place, "not what was written", job))
        examined.bad_jobs.add(job)
    elif job not in examined.bad_jobs:
        try:
            log.take(row)
        except StoreDamaged as error:
            examined.findings.append(Inconsistency(error.place, error.message, job))
            examined.bad_jobs.add(job)


def event_rows(connection: sqlite3.Connection, findings: list[Inconsistency]) -> Iterator[tuple[Any, ...]]:
    """All rows of the events table that can be read, in order; the others are added to `findings`."""
    for start in range(1, _last_position(connection) + 1, _SPAN):
        yield from _rows_between(connection, start, start + _SPAN - 1, findings)


def _last_position(connection: sqlite3.Connection) -> int:
    """The last position that the events, or else the jobs, know of."""
    for table in ("events", "jobs"):
        try:
            return int(connection.execute(f"SELECT coalesce(max(position), 0) FROM {table}").fetchone()[0])
        except sqlite3.DatabaseError:
            continue
    return 0


def _rows_between(
    connection: sqlite3.Connection, start: int, end: int, findings: list[Inconsistency]
) -> list[tuple[Any, ...]]:
    """Rows of a span of positions; where a page cannot be read, the span is halved down to one event."""
    try:
        return connection.execute(_SELECT, (start, end)).fetchall()
    except sqlite3.DatabaseError as error:
        if start == end:
            findings.append(Inconsistency(f"event at position {start}", f"cannot be read ({error})"))
            return []
    middle = (start + end) // 2
    return [
        *_rows_between(connection, start, middle, findings),
        *_rows_between(connection, middle + 1, end, findings),
    ]


def compare_rows(connection: sqlite3.Connection, examined: Examined) -> list[Inconsistency]:
    """Where the jobs table is not what the events add up to."""
    due = {job: row for job, row in examined.replay.rows.items() if job not in examined.bad_jobs}
    findings = []
    for row in connection.execute(JOBS):
        job = str(row[0])
        if job not in examined.bad_jobs and due.pop(job, None) != _record(row):
            findings.append(Inconsistency(f"job {job}", "its row is not what its events add up to", job))
    findings.extend(Inconsistency(f"job {job}", "its row is missing", job) for job in due)
    return findings


def _record(row: Sequence[Any]) -> JobRecord | CrossDeskError:
    try:
        # Of what is read as true or false anything would do, also what was never written.
        return record_of(row) if row[_INTERACTIVE] in (0, 1) else CrossDeskError("not a row")
    except ValueError:
        return CrossDeskError("not a row")
