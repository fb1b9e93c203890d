"""What a failed write means: no room, no permission to write, damage, or a device not to be trusted."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from enum import StrEnum
from pathlib import Path

from broker_core.errors import CrossDeskError, StorageFull, StoreDamaged

REPAIR = "Run: crossdesk broker repair"


class StorageCondition(StrEnum):
    """Whether the disk takes what the store writes (reliability case 6)."""

    OK = "ok"
    FULL = "full"
    """No room: submissions are refused, the events of running jobs wait in memory for room."""
    READ_ONLY = "read-only"
    """The file system was made read-only: as `full`."""


class StorageFailed(CrossDeskError):
    """A write or a flush failed as only a broken device fails; nothing later can be trusted."""

    code = "storage_failed"


def storage_error(error: OSError, directory: Path) -> CrossDeskError | None:
    """The error to show for a lack of room, None for any other trouble."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full_error(directory, StorageCondition.FULL)
    if error.errno == errno.EROFS:
        return full_error(directory, StorageCondition.READ_ONLY)
    return None


def full_error(directory: Path, condition: StorageCondition) -> StorageFull:
    """The refusal of a submission while the disk takes nothing."""
    if condition is StorageCondition.READ_ONLY:
        return StorageFull(
            "The file system that holds the broker's state is read-only; nothing was accepted.",
            place=str(directory),
            remedy="Make it writable again; running jobs are watched meanwhile.",
            code="storage_read_only",
        )
    return StorageFull(
        "The disk that holds the broker's state is full; nothing was accepted.",
        place=str(directory),
        remedy="Free some space there and submit again; running jobs are watched meanwhile.",
    )


def condition_after(error: sqlite3.Error, directory: Path) -> StorageCondition | None:
    """FULL or READ_ONLY if waiting can cure the error, None if it cannot."""
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_FULL:
        return StorageCondition.FULL
    if code & 0xFF not in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return None
    if code in (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC, sqlite3.SQLITE_IOERR_READ):
        return None
    return probe(directory)


def probe(directory: Path) -> StorageCondition | None:
    """Try to write beside the store: FULL, READ_ONLY, or None if that works or fails otherwise."""
    path = directory / "probe"
    try:
        if os.statvfs(directory).f_flag & os.ST_RDONLY:
            return StorageCondition.READ_ONLY
        _write(path, bytes(65536))
    except OSError as error:
        if error.errno == errno.EROFS:
            return StorageCondition.READ_ONLY
        remove(path)
        return StorageCondition.FULL if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else None
    remove(path)
    return None


def remove(path: Path) -> None:
    """Remove a file that serves the store only for a while; one that cannot be removed does no harm."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logging.getLogger("crossdesk.store").warning("%s stays: %s", path, error)


def _write(path: Path, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        while content:
            content = content[os.write(file, content) :]
    finally:
        os.close(file)


def damage_of(error: sqlite3.Error, path: Path) -> CrossDeskError:
    """The error to show for what SQLite says of a store that cannot be read or written."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # A plain SQLITE_ERROR speaks of tables or columns that should be there.
    damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
    if code in damage or "decode" in str(error):
        return StoreDamaged(f"The broker's store is damaged ({error}).", place=str(path), remedy=REPAIR)
    return StorageFailed(
        f"The broker's store cannot be read or written ({error}).",
        place=str(path),
        remedy="Look at the disk and its file system before starting the broker again.",
    )
