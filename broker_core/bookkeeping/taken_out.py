"""Damaged records of sweeps are taken out when the store is opened: one must not stop all other jobs.

What was read of each is added to a file beside the store, with the jobs lost by it, before its row goes.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from broker_core.bookkeeping.sqlite.codec import clean
from broker_core.bookkeeping.sqlite.connection import connect_examiner
from broker_core.bookkeeping.sqlite.sweep_rows import COLUMNS, intact_sweep, sweep_of

log = logging.getLogger("crossdesk.store")
ASIDE_FILE = "damaged-sweeps.jsonl"
"""Beside the store: one JSON object a line, with the `row` as it was read and the `lost` jobs."""
_ROWS = f"SELECT {', '.join(COLUMNS)} FROM sweeps ORDER BY first"
_LOST = """
SELECT value FROM submissions, json_each(receipt, '$.ids')
WHERE submissions.position = (SELECT min(position) FROM submissions WHERE position >= ?1)
AND json_valid(receipt)
AND NOT EXISTS (SELECT 1 FROM events WHERE job = value)
"""


def take_damaged_out(connection: sqlite3.Connection, path: Path) -> int:
    """Take damaged records of sweeps out of the store in `path`; returns the last place they may have had.

    That is 0 where none was ever taken out. Their jobs that have begun have events of their own and go on.
    The file is on the disk before the store changes. Raises sqlite3.Error, and OSError where it cannot be
    written.
    """
    aside = path.with_name(ASIDE_FILE)
    rows = _rows(path)
    damaged = [row for row in rows if not intact_sweep(row)]
    whole = {job for row in rows if row not in damaged for job in sweep_of(row).ids} if damaged else set()
    for row in damaged:
        lost = _lost_jobs(connection, row, whole)
        _keep(aside, row, lost)
        connection.execute("DELETE FROM sweeps WHERE first = ?", (row[0],))
        log.error(
            "The damaged record of a sweep at position %s is taken out; %d jobs that had not begun are lost,"
            " listed in %s", row[0], len(lost), aside,
        )  # fmt: skip
    if not aside.exists():
        return 0
    (last,) = connection.execute("SELECT coalesce(max(position), 0) FROM submissions").fetchone()
    return int(last)


def notices(directory: Path) -> list[str]:
    """What people should know of records that were taken out of the store in `directory`, one line each."""
    path = directory / ASIDE_FILE
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    if not lines:
        return []
    lost = sum(len(orjson.loads(line)["lost"]) for line in lines)
    records = "1 damaged record of a sweep was" if len(lines) == 1 else f"{len(lines)} records of sweeps were"
    lost_jobs = f"{lost:,} jobs that had not begun are lost"
    remedy = f"They are listed in {path}: submit them again, then remove the file."
    return [f"{records} taken out of the store; {lost_jobs}. {remedy}"]


def _rows(path: Path) -> list[tuple[Any, ...]]:
    examiner = connect_examiner(path)
    try:
        return examiner.execute(_ROWS).fetchall()
    finally:
        examiner.close()


def _lost_jobs(connection: sqlite3.Connection, row: Sequence[Any], whole: set[str]) -> list[str]:
    """Jobs whose only record it was, by the receipt of their submission; `whole`: jobs of other sweeps."""
    # A submission is known by its last place, and may have other sweeps, which are whole.
    found = [str(job) for (job,) in connection.execute(_LOST, (row[1],))]
    return [job for job in found if job not in whole]


def _keep(aside: Path, row: Sequence[Any], lost: list[str]) -> None:
    values = [value.hex() if isinstance(value, bytes) else _text(value) for value in row]
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as stream:
        stream.write(orjson.dumps({"row": values, "lost": lost}) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def _text(value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value
