"""Repair: a copy aside, then a new store from every event that is whole. Nothing is dropped silently."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from broker_core.bookkeeping.check import (
    Examined,
    Inconsistency,
    check,
    event_rows,
    examine,
    gone,
    said_nothing,
)
from broker_core.bookkeeping.contents import altered, jobs_without_files, present
from broker_core.bookkeeping.directory import LOCK_FILE, DirectoryLock, network_kind, present_holder
from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, JOB_COLUMNS, intact, record_row
from broker_core.bookkeeping.sqlite.connection import STORE_FILE, connect_examiner, connect_writer
from broker_core.bookkeeping.sqlite.schema import create, migrate, stored_schema
from broker_core.bookkeeping.sqlite.sweep_rows import intact_sweep
from broker_core.errors import NotFound, StoreDamaged
from broker_core.version import SCHEMA

__all__ = ["Inconsistency", "Repaired", "check", "release", "repair"]

log = logging.getLogger("crossdesk.store")
LOST_FILE = "lost.jsonl"
"""In the folder of the copy: one JSON object a line, a lost `job` and the paths that tell of it."""
QUARANTINE_FILE = "quarantine.jsonl"
"""In the folder of the copy: one JSON list a line, the event rows of jobs that were taken out."""
_OTHERS = (
    "sweeps",
    "submissions",
    "descriptions",
    "filesets",
    "documents",
    "annotations",
    "outside_jobs",
    "purged",
)
_FILES = (STORE_FILE, STORE_FILE + "-wal", STORE_FILE + "-shm", STORE_FILE + "-journal")
ASIDE = "damaged-*"
"""Folders beside a store with what it was before a repair."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did."""

    findings: list[Inconsistency]
    """What was wrong; empty: the store was whole and was left as it is."""
    copy: Path | None
    """Folder with the store as it was, and the quarantine."""
    quarantined: list[str]
    """Ids of the jobs that were taken out, since an event of theirs is damaged or lost."""
    kept: int = 0
    """Jobs in the new store."""
    emptied: bool = False
    """The store was gone, or said nothing of itself any more."""
    lost: dict[str, list[str]] = field(default_factory=dict)
    """Ids of the jobs of which no record is left, to the paths that still tell of them."""


def release(directory: Path) -> None:
    """Forget the recorded holder of a state directory on a network file system, whose machine is gone."""
    path = directory / LOCK_FILE
    if path.exists():
        path.write_bytes(b"")


def repair(directory: Path, *, host: str, pid: int) -> Repaired:
    """Make the store in `directory` whole again. Jobs with a damaged event go to the quarantine as a whole.

    A job of which a part of the story is missing is never run again by itself.
    Raises NotFound if there is no store, StateDirectoryTaken while a broker holds it.
    """
    path = directory / STORE_FILE
    if not path.is_file() and not gone(directory):
        raise NotFound("There is no store here.", place=str(directory))
    network = bool(network_kind(directory))
    lock = DirectoryLock(directory, present_holder(host, pid), network=network)
    try:
        _bring_up_to_date(path)
        findings = check(directory)
        return _with_lost_jobs(path, _rebuild(path, findings)) if findings else Repaired([], None, [])
    finally:
        lock.release()


def _bring_up_to_date(path: Path) -> None:
    """Give a whole store of an earlier schema the present one, as a broker does when it starts.

    One that is too damaged for it is left as it is: the repair makes its tables anew.
    """
    if not path.is_file():
        return
    try:
        with closing(connect_examiner(path)) as connection:
            found = stored_schema(connection)
        if not 0 < found < SCHEMA:
            return  # opening it for writing would change the file
        with closing(connect_writer(path, network=bool(network_kind(path.parent)))) as connection:
            connection.execute("BEGIN IMMEDIATE")
            migrate(connection, found)
            connection.execute("COMMIT")
    except (sqlite3.Error, StoreDamaged) as error:
        log.info("The store keeps its schema for now: %s", error)


def _rebuild(path: Path, findings: list[Inconsistency]) -> Repaired:
    emptied = said_nothing(path)
    aside = _copy_aside(path)
    fresh = path.with_name(STORE_FILE + ".new")
    fresh.unlink(missing_ok=True)
    # The new file is one file until it is whole, hence no write-ahead log while it is made.
    with (
        closing(connect_writer(fresh, network=True)) as new,
        closing(connect_examiner(aside / STORE_FILE)) as old,
    ):
        new.execute("BEGIN IMMEDIATE")
        create(new, "repaired")
        quarantined, lost = _carry_over(old, new, aside / QUARANTINE_FILE)
        (kept,) = new.execute("SELECT count(*) FROM jobs").fetchone()
        new.execute("COMMIT")
    for name in _FILES[1:]:
        path.with_name(name).unlink(missing_ok=True)
    fresh.replace(path)
    return Repaired(findings + lost, aside, sorted(quarantined), kept, emptied)


def _with_lost_jobs(path: Path, done: Repaired) -> Repaired:
    """The repair with the jobs that it could not bring back, which are listed beside the copy too."""
    assert done.copy is not None
    here = recorded(path) | set(done.quarantined)
    # Of a store that was only damaged, former copies tell what was lost and told then.
    asides = sorted(path.parent.glob(ASIDE)) if done.emptied else [done.copy]
    lost = {job: where for job, where in traces(path.parent, asides).items() if job not in here}
    with (done.copy / LOST_FILE).open("wb") as file:
        file.writelines(orjson.dumps({"job": job, "paths": where}) + b"\n" for job, where in lost.items())
    return replace(done, lost=lost)


def _copy_aside(path: Path) -> Path:
    number = 1
    while (aside := path.parent / f"damaged-{number}").exists():
        number += 1
    aside.mkdir(mode=0o700)
    for name in _FILES:
        if path.with_name(name).exists():
            shutil.copy2(path.with_name(name), aside / name)
    return aside


def _carry_over(
    old: sqlite3.Connection, new: sqlite3.Connection, quarantine: Path
) -> tuple[set[str], list[Inconsistency]]:
    lost: list[Inconsistency] = []
    _carry_meta(old, new)
    for table in _OTHERS:
        _copy_table(old, new, table, lost)
    try:
        examined = examine(old)
    except sqlite3.DatabaseError as error:
        return set(), [*lost, Inconsistency("table events", f"cannot be read at all ({error})")]
    bad = examined.bad_jobs | _with_lost_events(old, examined) | _without_inputs(old, examined)
    _carry_events(old, new, bad, quarantine)
    _write_rows(old, new, examined, bad)
    return bad, lost


def _with_lost_events(old: sqlite3.Connection, examined: Examined) -> set[str]:
    """Jobs whose last events are gone: the row, where it can be read, knows of more events than there are."""
    try:
        rows = old.execute("SELECT id, seq FROM jobs").fetchall()
    except sqlite3.DatabaseError:
        return set()
    due = examined.replay.rows
    return {job for job, seq in rows if job not in due or due[job].seq < seq} - examined.replay.purged()


def _without_inputs(old: sqlite3.Connection, examined: Examined) -> set[str]:
    """Live jobs whose list of input files is lost: they must not be run without."""
    try:
        lost = jobs_without_files(old)
    except sqlite3.DatabaseError:
        return set()
    return {job for job in lost if job in examined.replay.rows and examined.replay.rows[job].state.active}


def _carry_meta(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    try:
        (epoch,) = old.execute("SELECT epoch FROM meta").fetchone()
    except (sqlite3.DatabaseError, TypeError):
        epoch = 0
    new.execute("UPDATE meta SET epoch = ?", (epoch + 1,))


def _copy_table(
    old: sqlite3.Connection, new: sqlite3.Connection, table: str, lost: list[Inconsistency]
) -> None:
    try:
        damaged = altered(old, table) if table in ("descriptions", "filesets") else ()
        rows = old.execute(f"SELECT * FROM {table}")
        columns = ", ".join(one[0] for one in rows.description)  # an earlier schema has fewer
        for row in rows:
            if row[0] in damaged or (table == "sweeps" and not intact_sweep(row)):
                lost.append(Inconsistency(f"table {table}, {row[0]}", "not what was written, left out"))
                continue
            marks = ",".join("?" * len(row))
            new.execute(f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})", row)
    except (sqlite3.DatabaseError, UnicodeEncodeError) as error:
        lost.append(Inconsistency(f"table {table}", f"a part of it is lost ({error})"))


def _carry_events(old: sqlite3.Connection, new: sqlite3.Connection, bad: set[str], quarantine: Path) -> None:
    insert = f"INSERT INTO events VALUES ({','.join('?' * len(EVENT_COLUMNS))})"
    with quarantine.open("wb") as file:
        quarantine.chmod(0o600)
        for row in event_rows(old, []):
            if str(row[1]) in bad or not intact(row):
                file.write(orjson.dumps(_printable(row)) + b"\n")
            else:
                new.execute(insert, row)


def _printable(row: Sequence[Any]) -> list[Any]:
    return [value.hex() if isinstance(value, bytes) else _escaped(value) for value in row]


def _escaped(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _write_rows(old: sqlite3.Connection, new: sqlite3.Connection, examined: Examined, bad: set[str]) -> None:
    files = _files_of_jobs(old)
    columns, marks = ", ".join(JOB_COLUMNS), ",".join("?" * (len(JOB_COLUMNS) + 2))
    insert = f"INSERT INTO jobs (number, files, {columns}) VALUES ({marks})"
    first = dict(new.execute("SELECT job, position FROM events WHERE seq = 1"))
    for job, record in examined.replay.rows.items():
        if job not in bad:
            new.execute(insert, (first[job], files.get(job, ""), *record_row(record)))


def _files_of_jobs(old: sqlite3.Connection) -> dict[str, str]:
    try:
        known = present(old, "filesets")
        return {job: files for job, files in old.execute("SELECT id, files FROM jobs") if files in known}
    except sqlite3.DatabaseError:
        return {}


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
