"""Room that the store does not need any more is given back to the disk, in slices between transactions."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from pathlib import Path

log = logging.getLogger("crossdesk.store")
SLICE = 128
"""Pages (4 KiB) that one slice gives back at most."""
SPARE = 256
"""Free pages that stay in the file for what is written next."""
_INCREMENTAL = 2
_ROOM = 3
"""Times the size of the file that must be free on the disk for it to be written anew: once in the log of
the writes, once in the file itself, and once to spare."""


def has_room_to_give(connection: sqlite3.Connection) -> bool:
    """True if the file has more free pages than are to stay, and they can be given back in slices."""
    return _free_pages(connection) > SPARE and _in_slices(connection)


def give_back_slice(connection: sqlite3.Connection) -> bool:
    """Cut one slice of free pages off the end of the file; False if none is to be given back (any more).

    A transaction of its own. Raises sqlite3.Error as SQLite does.
    """
    if not has_room_to_give(connection):
        return False
    # Each step of the statement frees one page, and only a script is stepped to its end.
    connection.executescript(f"PRAGMA incremental_vacuum({min(SLICE, _free_pages(connection) - SPARE)})")
    return True


def shorten_log(connection: sqlite3.Connection) -> None:
    """Copy the write-ahead log into the file and empty it, unless somebody reads it at this moment."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout=0")
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}")


def allow_slices(connection: sqlite3.Connection, path: Path) -> None:
    """Write a file of an earlier version anew, once, so that its room can be given back in slices.

    Where the disk has no room for that the file stays as it is and is used as before.
    """
    if _in_slices(connection):
        return
    size, disk = path.stat().st_size, os.statvfs(path.parent)
    if disk.f_bavail * disk.f_frsize < _ROOM * size:
        log.warning("There is no room to write %s anew; free pages in it are not given back", path)
        return
    begun = time.monotonic()
    try:
        connection.execute("VACUUM")
    except sqlite3.Error as error:
        log.warning("%s could not be written anew, and is used as it is: %s", path, error)
        return
    shorten_log(connection)
    log.info("%s was written anew (%d MB) in %.1f s", path, size // 10**6, time.monotonic() - begun)


def _free_pages(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def _in_slices(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA auto_vacuum").fetchone()[0] == _INCREMENTAL)
