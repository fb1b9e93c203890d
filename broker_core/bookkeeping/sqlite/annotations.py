"""Tags and notes of jobs as rows of the store, and back; a row stays, though empty, until its job is purged.

So the places in the log that the rows have only grow, and who follows from any place hears of each change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import orjson

from broker_core.bookkeeping.entries import Annotating, NewSubmission
from broker_core.bookkeeping.sqlite.codec import clean
from broker_core.errors import BadRequest
from broker_core.jobs.annotations import ANNOTATION_COLUMNS, Annotation, tags_in
from broker_core.jobs.transitions import EventType

Annotated = tuple[int, str, str, str]
"""Place in the log, job, tags as the column of a row has them, note."""
_INSERT = "INSERT OR REPLACE INTO annotations (job, owner, tags, note, position) VALUES (?, ?, ?, ?, ?)"
_NOTHING = Annotation()


def change_annotations(connection: sqlite3.Connection, wanted: Annotating) -> None:
    """Write a change, inside the caller's transaction, and fill in for which jobs it was refused.

    Jobs that were purged meanwhile are left out.
    """
    before = annotations_of(connection, wanted.jobs)
    gone = _purged(connection, wanted.jobs)
    wanted.refused.clear()
    rows = []
    for position, job in enumerate(wanted.jobs, wanted.first):
        try:
            after = before.get(job, _NOTHING).changed(wanted.change)
        except BadRequest as refused:
            wanted.refused[job] = f"{refused.message} {refused.remedy}"
            continue
        if job in gone:
            wanted.refused[job] = "There is no such job."
        else:
            rows.append((job, wanted.owner, after.text, after.note, position))
    connection.executemany(_INSERT, rows)


def insert_annotations(connection: sqlite3.Connection, new: NewSubmission) -> None:
    """Write what the jobs of a submission begin with, inside the caller's transaction."""
    numbers = {entry.event.job: entry.event.position for entry in new.entries}
    for sweep, _ in new.sweeps:
        numbers.update((job, sweep.number(index)) for index, job in enumerate(sweep.ids))
    rows = [(job, new.owner, one.text, clean(one.note), numbers[job]) for job, one in new.annotations.items()]
    connection.executemany(_INSERT, rows)


def annotations_of(connection: sqlite3.Connection, jobs: Sequence[str]) -> dict[str, Annotation]:
    """Job id to its tags and note, for those of the jobs that ever had some."""
    query = "SELECT job, tags, note FROM annotations WHERE job IN (SELECT value FROM json_each(?))"
    rows = connection.execute(query, (orjson.dumps(list(jobs)).decode(),))
    return {job: Annotation(tuple(tags_in(tags)), note) for job, tags, note in rows}


def annotations_between(
    connection: sqlite3.Connection, owner: str, after: int, upto: int, limit: int
) -> list[Annotated]:
    """What of an owner's jobs was changed behind one place in the log and not behind another, in order."""
    query = (
        "SELECT position, job, tags, note FROM annotations WHERE position > ? AND position <= ? AND owner = ?"
        " ORDER BY position LIMIT ?"
    )
    return list(connection.execute(query, (after, upto, owner, limit)))


def annotation_columns(
    connection: sqlite3.Connection, jobs: Sequence[str], names: Iterable[str]
) -> Mapping[str, list[str]]:
    """Those of the columns ANNOTATION_COLUMNS that are named, for jobs in their order."""
    wanted = [name for name in ANNOTATION_COLUMNS if name in names]
    found = annotations_of(connection, jobs) if wanted and _some(connection) else {}
    every = [found.get(job, _NOTHING) for job in jobs]
    columns = {"tags": [one.text for one in every], "note": [one.note for one in every]}
    return {name: columns[name] for name in wanted}


def _some(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM annotations LIMIT 1").fetchone() is not None


def _purged(connection: sqlite3.Connection, jobs: Sequence[str]) -> set[str]:
    query = "SELECT job FROM events WHERE job IN (SELECT value FROM json_each(?)) AND type = ?"
    text = orjson.dumps(list(jobs)).decode()
    return {job for (job,) in connection.execute(query, (text, EventType.PURGED.value))}
