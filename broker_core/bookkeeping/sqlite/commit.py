"""Writing payloads inside one transaction."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any

from broker_core.bookkeeping.entries import (
    Annotating,
    Document,
    EntityEntry,
    LogEntry,
    NewSubmission,
    OutsideChange,
    Payload,
    RefusedJobs,
    Tidying,
)
from broker_core.bookkeeping.sqlite.annotations import change_annotations, insert_annotations
from broker_core.bookkeeping.sqlite.codec import (
    CHANGING_COLUMNS,
    EVENT_COLUMNS,
    JOB_COLUMNS,
    changing_row,
    event_row,
    json_text,
    record_row,
)
from broker_core.bookkeeping.sqlite.outside_jobs import change_outside_jobs
from broker_core.bookkeeping.sqlite.purging import close_begun_sweeps, count_refused, fold_and_remove
from broker_core.bookkeeping.sqlite.sweep_rows import insert_sweep
from broker_core.errors import Conflict
from broker_core.jobs.record import JobRecord
from broker_core.jobs.transitions import EventType
from broker_core.wire.submission import SandboxFile

_CHUNKS = tuple(2**power for power in range(8, -1, -1))
"""Rows of one statement: so few sizes that each statement is prepared once."""
_INSERT_EVENTS = f"INSERT INTO events ({', '.join(EVENT_COLUMNS)}) VALUES "
_INSERT_JOBS = f"INSERT INTO jobs (number, files, {', '.join(JOB_COLUMNS)}) VALUES "
_UPDATE_JOBS = (
    "UPDATE jobs SET "
    + ", ".join(f"{name} = new.column{number}" for number, name in enumerate(CHANGING_COLUMNS, 2))
    + " FROM (VALUES "
)
_UPDATE_ONE = (
    "UPDATE jobs SET "
    + ", ".join(f"{name} = ?{number}" for number, name in enumerate(CHANGING_COLUMNS, 2))
    + " WHERE id = ?1"
)
_UPDATE_JOBS_END = ") AS new WHERE jobs.id = new.column1"


def write_payloads(connection: sqlite3.Connection, payloads: Sequence[Payload]) -> None:
    """Write payloads in their order; the caller begins and ends the transaction.

    Raises Conflict if a submission's key was used before, sqlite3.Error as SQLite does.
    """
    entries: list[LogEntry | EntityEntry] = []
    files: dict[str, str] = {}
    for payload in payloads:
        if isinstance(payload, NewSubmission):
            _write_submission(connection, payload, files)
            entries.extend(payload.entries)
        elif isinstance(payload, Document):
            _write_document(connection, payload)
        elif isinstance(payload, RefusedJobs):
            count_refused(connection, payload)
        elif isinstance(payload, Annotating):
            change_annotations(connection, payload)
        elif isinstance(payload, OutsideChange):
            change_outside_jobs(connection, payload)
        elif isinstance(payload, Tidying):
            close_begun_sweeps(connection, payload.in_use)
        else:
            entries.extend(payload)
    if entries:
        _write_entries(connection, entries, files)


def _write_entries(
    connection: sqlite3.Connection, entries: Sequence[LogEntry | EntityEntry], files: dict[str, str]
) -> None:
    _many(connection, _INSERT_EVENTS, "", [event_row(entry.event) for entry in entries])
    first, last, purged = _rows(entries, files)
    if first:
        rows = [(number, files.get(job, ""), *record_row(last[job])) for job, number in first.items()]
        _many(connection, _INSERT_JOBS, "", rows)
    changed = [changing_row(record) for job, record in last.items() if job not in first]
    if len(changed) == 1:
        connection.execute(_UPDATE_ONE, changed[0])
    elif changed:
        _many(connection, _UPDATE_JOBS, _UPDATE_JOBS_END, changed)
    if purged:
        fold_and_remove(connection, purged)


def _rows(
    entries: Sequence[LogEntry | EntityEntry], files: dict[str, str]
) -> tuple[dict[str, int], dict[str, JobRecord], list[JobRecord]]:
    first: dict[str, int] = {}
    last: dict[str, JobRecord] = {}
    purged: list[JobRecord] = []
    for entry in entries:
        if isinstance(entry, EntityEntry):
            continue
        event = entry.event
        if event.seq == 1:
            first[event.job] = event.position
            if entry.files:
                files[event.job] = entry.files
        elif event.type is EventType.PURGED:
            purged.append(entry.record)
        last[event.job] = entry.record
    return first, last, purged


def _many(connection: sqlite3.Connection, start: str, end: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows with many to a statement: each statement costs one hand-over of the interpreter's lock."""
    iterator = iter(rows)
    pending = list(islice(iterator, _CHUNKS[0]))
    while pending:
        size = next(size for size in _CHUNKS if size <= len(pending))
        chunk, pending = pending[:size], pending[size:]
        values = [value for row in chunk for value in row]
        connection.execute(_statement(start, end, size, len(chunk[0])), values)
        if not pending:
            pending = list(islice(iterator, _CHUNKS[0]))


@cache
def _statement(start: str, end: str, rows: int, columns: int) -> str:
    one = "(" + ",".join("?" * columns) + ")"
    return start + ",".join([one] * rows) + end


def _write_submission(connection: sqlite3.Connection, new: NewSubmission, files: dict[str, str]) -> None:
    try:
        connection.execute(
            "INSERT INTO submissions VALUES (?, ?, ?, ?)",
            (new.owner, new.key, new.receipt.model_dump_json(), new.last),
        )
    except sqlite3.IntegrityError as error:
        raise Conflict("A submission with this key was recorded before.", place=new.key) from error
    connection.executemany("INSERT OR IGNORE INTO descriptions VALUES (?, ?)", new.descriptions.items())
    files.update(_write_filesets(connection, new))
    for sweep, listed in new.sweeps:
        sweep.files = _write_fileset(connection, listed) if listed else ""
        insert_sweep(connection, sweep)
    if new.annotations:
        insert_annotations(connection, new)


def _write_filesets(connection: sqlite3.Connection, new: NewSubmission) -> dict[str, str]:
    known: dict[int, str] = {}
    named: dict[str, str] = {}
    for job, listed in new.files.items():
        if not listed:
            continue
        name = known.get(id(listed))
        if name is None:
            name = known[id(listed)] = _write_fileset(connection, listed)
        named[job] = name
    return named


def _write_fileset(connection: sqlite3.Connection, listed: tuple[SandboxFile, ...]) -> str:
    text = json_text([file.model_dump() for file in listed])
    name = hashlib.sha256(text.encode()).hexdigest()
    connection.execute("INSERT OR IGNORE INTO filesets VALUES (?, ?)", (name, text))
    return name


def _write_document(connection: sqlite3.Connection, document: Document) -> None:
    connection.execute(
        "INSERT INTO documents VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
        (document.owner, document.name, document.body),
    )
