"""Purging: the row goes, the story is folded to its last event, and the job stays counted (CB-LIFE-06).

A member of a batch counts once, by the run that goes last: as long as another one has a row, that one counts.

The event that says that a job was purged stays for ever: who follows the log from any position hears of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from broker_core.bookkeeping.entries import RefusedJobs
from broker_core.jobs.counters import NEVER, counts_of, wait_bound
from broker_core.jobs.outcome import Outcome, outcome_of
from broker_core.jobs.record import JobRecord
from broker_core.jobs.transitions import EventType

_FOLD = """
INSERT INTO purged (owner, structure, interactive, month, cpus, wait, submitted, accepted, matched, run,
    completed, cleared, done, failed, canceled)
VALUES (?, ?, ?, strftime('%Y-%m', ?, 'unixepoch'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET
    submitted = submitted + excluded.submitted, accepted = accepted + excluded.accepted,
    matched = matched + excluded.matched, run = run + excluded.run,
    completed = completed + excluded.completed, cleared = cleared + excluded.cleared,
    done = done + excluded.done, failed = failed + excluded.failed, canceled = canceled + excluded.canceled
"""

_REMOVE = "DELETE FROM jobs WHERE id = ? RETURNING files"
_OTHER_RUN = """
SELECT 1 FROM jobs WHERE rerun_of <> '' AND rerun_of = ?1 UNION ALL SELECT 1 FROM jobs WHERE id = ?2
"""
_RELINK = "UPDATE jobs SET rerun_of = ? WHERE rerun_of <> '' AND rerun_of = ?"
_FOLD_STORY = """
DELETE FROM events WHERE job = ?1 AND seq < ?2 AND NOT (seq = 1 AND EXISTS (
    SELECT 1 FROM (SELECT last FROM sweeps WHERE first <= events.position ORDER BY first DESC LIMIT 1) AS s
    WHERE s.last >= events.position))
"""
_FOLD_FIRST = """
DELETE FROM events WHERE position BETWEEN ? AND ? AND seq = 1 AND EXISTS (
    SELECT 1 FROM events AS later WHERE later.job = events.job AND later.seq > 1 AND later.type = ?)
"""
_JOBS_OF_SWEEP = "CASE WHEN json_valid(body) THEN json_array_length(body, '$.ids') END"
_BEGUN = "SELECT count(*) FROM events WHERE position BETWEEN ? AND ? AND seq = 1"
Closing = tuple[int, int, str, str]
"""What a sweep to be closed is known by: its first and last place, description and list of files."""


def fold_and_remove(connection: sqlite3.Connection, records: Sequence[JobRecord]) -> None:
    """Count ended jobs among the purged ones, remove their rows and fold their stories, inside the caller's
    transaction. Descriptions and file lists that no other job uses go with them. What repeats one of them
    repeats the job before it from now on, so that the chain of reruns stays one.
    """
    descriptions: set[str] = set()
    filesets: set[str] = set()
    for record in records:
        for (files,) in connection.execute(_REMOVE, (record.id,)).fetchall():
            if not _stands_elsewhere(connection, record):
                _fold(connection, record)
            descriptions.add(record.description)
            filesets.add(files)
            if record.rerun_of:
                connection.execute(_RELINK, (record.rerun_of, record.id))
    fold_stories(connection, [(record.id, record.seq) for record in records])
    connection.executemany("DELETE FROM annotations WHERE job = ?", [(record.id,) for record in records])
    _remove_unused(connection, descriptions, filesets - {""})


def _stands_elsewhere(connection: sqlite3.Connection, record: JobRecord) -> bool:
    """True if another run of this member of a batch is there, which is counted by its row."""
    if not record.batch:
        return False
    return connection.execute(_OTHER_RUN, (record.id, record.rerun_of)).fetchone() is not None


def fold_stories(connection: sqlite3.Connection, last: Sequence[tuple[str, int]]) -> None:
    """Remove the events of purged jobs before their last (job, number), inside the caller's transaction.

    The first event of a job from a sweep stays while the sweep has a record: it tells that the job has begun.
    """
    connection.executemany(_FOLD_STORY, last)


def _fold(connection: sqlite3.Connection, record: JobRecord) -> None:
    where = (record.owner, record.structure, int(record.interactive), record.submitted, record.cpus)
    outcome = outcome_of(record.state, record.exit_code)
    ends = (int(outcome is one) for one in (Outcome.DONE, Outcome.FAILED, Outcome.CANCELED))
    wait = wait_bound(record.submitted, record.started)
    connection.execute(_FOLD, (*where, wait, *counts_of(record), *ends))


def count_refused(connection: sqlite3.Connection, refused: RefusedJobs) -> None:
    """Count jobs that were submitted and refused. They have no processors, by which they are told from purged
    ones, and no kind that is known for sure."""
    where = (refused.owner, "Normal", 0, refused.time, 0, NEVER)
    connection.execute(_FOLD, (*where, refused.count, *[0] * 8))


def close_sweeps(connection: sqlite3.Connection, done: Sequence[Closing]) -> None:
    """Remove the records of sweeps whose jobs have all begun, and what their purged jobs had left."""
    connection.executemany("DELETE FROM sweeps WHERE first = ?", [(first,) for first, *_ in done])
    if connection.execute("SELECT 1 FROM purged LIMIT 1").fetchone():  # a look at 200,000 jobs takes a second
        purged = EventType.PURGED.value
        connection.executemany(_FOLD_FIRST, [(first, last, purged) for first, last, *_ in done])
    _remove_unused(
        connection,
        {description for _, _, description, _ in done},
        {files for *_, files in done if files},
    )


def close_begun_sweeps(connection: sqlite3.Connection, in_use: Collection[int]) -> None:
    """Close the sweeps whose jobs have all begun on the disk, but those whose first place is `in_use`."""
    rows = connection.execute("SELECT first, last, description, files FROM sweeps").fetchall()
    done = [row for row in rows if row[0] not in in_use and _all_begun(connection, row[0], row[1])]
    close_sweeps(connection, done)


def _all_begun(connection: sqlite3.Connection, first: int, last: int) -> bool:
    (jobs,) = connection.execute(f"SELECT {_JOBS_OF_SWEEP} FROM sweeps WHERE first = ?", (first,)).fetchone()
    (begun,) = connection.execute(_BEGUN, (first, last)).fetchone()
    return bool(begun == jobs)


def _remove_unused(connection: sqlite3.Connection, descriptions: set[str], filesets: set[str]) -> None:
    connection.executemany(
        "DELETE FROM descriptions WHERE sha = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE description = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM sweeps WHERE description = ?1)",
        [(sha,) for sha in descriptions],
    )
    connection.executemany(
        "DELETE FROM filesets WHERE sha = ?1"
        " AND NOT EXISTS (SELECT 1 FROM jobs WHERE files = ?1 AND files <> '')"
        " AND NOT EXISTS (SELECT 1 FROM sweeps WHERE files = ?1)",
        [(sha,) for sha in filesets],
    )
