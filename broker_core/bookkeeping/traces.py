"""What still tells of jobs that no store knows any more: folders of attempts, stores put aside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from broker_core.bookkeeping.sqlite.connection import STORE_FILE, connect_examiner

ASIDE = "damaged-*"
"""Folders beside a store with what it was before a repair."""


def traces(directory: Path, asides: Iterable[Path]) -> dict[str, list[str]]:
    """Job id to the paths that tell of it, for the store in `directory`, whose sites lie beside it.

    `asides`: folders with former stores that are read too, those that were put aside by repairs.
    """
    # Loaded here, because the command line is also used where nothing of sites can be.
    from broker_core.sites.attempt_directory import attempts_in

    found: dict[str, list[str]] = {}
    for root in sorted(directory.parent.glob("sites/*/attempts")):
        for attempt in attempts_in(root):
            found.setdefault(attempt.job, []).append(f"{root}/{attempt.tag}")
    for aside in asides:
        path = aside / STORE_FILE
        for job in _jobs_in(path) if path.is_file() else ():
            found.setdefault(job, []).append(str(path))
    return found


def recorded(path: Path) -> set[str]:
    """Ids of all jobs that a store tells anything of, purged ones too; what cannot be read is passed over."""
    with closing(connect_examiner(path)) as connection:
        return {*_ids(connection, "SELECT id FROM jobs"), *_ids(connection, "SELECT job FROM events")}


def _jobs_in(path: Path) -> set[str]:
    """Ids of the jobs that a store put aside had, without those that were purged."""
    with closing(connect_examiner(path)) as connection:
        return set(_ids(connection, "SELECT id FROM jobs"))


def _ids(connection: sqlite3.Connection, query: str) -> Iterator[str]:
    try:
        for (job,) in connection.execute(query):
            yield str(job)
    except sqlite3.Error:
        return  # no such table, or damaged from here on: what was read until then counts
