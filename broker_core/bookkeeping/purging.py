"""Purging: the row goes, the events stay, and the job stays counted (CB-LIFE-06)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from broker_core.jobs.counters import counts_of, wait_bound
from broker_core.jobs.record import JobRecord

_FOLD = """
INSERT INTO purged VALUES (?, ?, ?, strftime('%Y-%m', ?, 'unixepoch'), ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET
    submitted = submitted + excluded.submitted, accepted = accepted + excluded.accepted,
    matched = matched + excluded.matched, run = run + excluded.run,
    completed = completed + excluded.completed, cleared = cleared + excluded.cleared
"""


def fold_and_remove(connection: sqlite3.Connection, records: Sequence[JobRecord]) -> None:
    """Count ended jobs among the purged ones and remove their rows, inside the caller's transaction.

    Descriptions and file lists that no other job uses go with them.
    """
    descriptions: set[str] = set()
    filesets: set[str] = set()
    for record in records:
        row = connection.execute("DELETE FROM jobs WHERE id = ? RETURNING files", (record.id,)).fetchall()
        if row:
            _fold(connection, record)
            descriptions.add(record.description)
            filesets.add(row[0][0])
    _remove_unused(connection, descriptions, filesets - {""})


def _fold(connection: sqlite3.Connection, record: JobRecord) -> None:
    where = (record.owner, record.structure, int(record.interactive), record.submitted, record.cpus)
    connection.execute(_FOLD, (*where, wait_bound(record.submitted, record.started), *counts_of(record)))


def close_sweeps(connection: sqlite3.Connection, done: Sequence[tuple[int, str, str]]) -> None:
    """Remove the records of sweeps (place, description, files) whose jobs have all begun."""
    connection.executemany("DELETE FROM sweeps WHERE first = ?", [(first,) for first, _, _ in done])
    _remove_unused(
        connection,
        {description for _, description, _ in done},
        {files for _, _, files in done if files},
    )


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
