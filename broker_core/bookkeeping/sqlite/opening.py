"""Opening a store: lock, tables, epoch, live rows, and a look at what matters most."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from broker_core.bookkeeping.ballast import Ballast
from broker_core.bookkeeping.directory import (
    MOUNTS,
    DirectoryLock,
    Holder,
    network_kind,
    prepare,
    present_holder,
)
from broker_core.bookkeeping.faults import StorageCondition, condition_after, damage_of, full_error
from broker_core.bookkeeping.sqlite import reads
from broker_core.bookkeeping.sqlite.connection import STORE_FILE, connect_reader, connect_writer
from broker_core.bookkeeping.sqlite.integrity import verified_live
from broker_core.bookkeeping.sqlite.purging import close_sweeps
from broker_core.bookkeeping.sqlite.room import allow_slices
from broker_core.bookkeeping.sqlite.schema import create, lost_tables, migrate, stored_schema
from broker_core.bookkeeping.sqlite.sweep_rows import begun, stored_sweeps
from broker_core.bookkeeping.sqlite.sweeps import Sweeps
from broker_core.bookkeeping.taken_out import take_damaged_out
from broker_core.jobs.record import JobRecord
from broker_core.version import SCHEMA


@dataclass(frozen=True, slots=True)
class Opened:
    """What an open store consists of."""

    path: Path
    lock: DirectoryLock
    connection: sqlite3.Connection
    reader: sqlite3.Connection
    epoch: int
    position: int
    live: list[JobRecord]
    sweeps: Sweeps


def open_store(
    directory: Path,
    *,
    host: str,
    pid: int,
    fail: Callable[[str], object] | None = None,
    mounts: Path = MOUNTS,
) -> Opened:
    """Take the directory and open its store; nothing stays open or locked after an error."""
    prepare(directory)
    network = bool(network_kind(directory, mounts))
    holder = present_holder(host, pid)
    lock = DirectoryLock(directory, holder, network=network)
    try:
        return _open_in_the_room_there_is(directory, lock, holder, network, fail)
    except sqlite3.Error as error:
        lock.release()
        condition = condition_after(error, directory)
        raise (full_error(directory, condition) if condition else damage_of(error, directory)) from error
    except BaseException:
        lock.release()
        raise


def _open_in_the_room_there_is(
    directory: Path, lock: DirectoryLock, holder: Holder, network: bool, fail: Callable[[str], object] | None
) -> Opened:
    """Open; on a full disk give the reserve up for it, since running jobs must be watched again."""
    path = directory / STORE_FILE
    try:
        return _open_locked(path, lock, holder, network, fail)
    except sqlite3.Error as error:
        if condition_after(error, directory) is not StorageCondition.FULL:
            raise
    Ballast(directory).drop()
    return _open_locked(path, lock, holder, network, fail)


def _open_locked(
    path: Path, lock: DirectoryLock, holder: Holder, network: bool, fail: Callable[[str], object] | None
) -> Opened:
    connection = connect_writer(path, network=network)
    try:
        epoch = _begin_epoch(connection, holder, used=Ballast(path.parent).present)
        if fail is not None:
            fail("store.opened")
        allow_slices(connection, path)
        # Places that a lost record had are not given again: followers may be past them.
        lost = take_damaged_out(connection, path)
        position = max(reads.last_position(connection), lost)
        sweeps = _open_sweeps(connection)
        live = verified_live(path, sweeps.open())
        return Opened(path, lock, connection, connect_reader(path), epoch, position, live, sweeps)
    except BaseException:
        connection.close()
        raise


def _open_sweeps(connection: sqlite3.Connection) -> Sweeps:
    """The sweeps with jobs that have not begun; the records of the others are removed."""
    sweeps = Sweeps()
    for sweep in stored_sweeps(connection):
        sweeps.add(sweep, begun(connection, sweep))
    open_ = {sweep.first for sweep in sweeps.open()}
    rows = connection.execute("SELECT first, last, description, files FROM sweeps").fetchall()
    done = [row for row in rows if row[0] not in open_]
    if done:
        connection.execute("BEGIN IMMEDIATE")
        close_sweeps(connection, done)
        connection.execute("COMMIT")
    return sweeps


def _begin_epoch(connection: sqlite3.Connection, holder: Holder, *, used: bool) -> int:
    """Create or migrate the tables and write the next epoch, in one transaction.

    `used`: there has been a store here, so that an empty file is damage and no new beginning.
    """
    connection.execute("BEGIN IMMEDIATE")
    found = stored_schema(connection)
    if found == 0 and used:
        raise lost_tables()
    if found == 0:
        create(connection, secrets.token_hex(8))
    elif found != SCHEMA:
        migrate(connection, found)
    connection.execute(
        "UPDATE meta SET epoch = epoch + 1, host = ?, pid = ?, started = ?",
        (holder.host, holder.pid, holder.started),
    )
    (epoch,) = connection.execute("SELECT epoch FROM meta").fetchone()
    connection.execute("COMMIT")
    if found == 0:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return int(epoch)
