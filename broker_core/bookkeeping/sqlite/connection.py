"""Connections to the store's file."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

STORE_FILE = "broker.sqlite"


def connect_writer(path: Path, *, network: bool) -> sqlite3.Connection:
    """The one connection that writes. FULL: a commit returns after the disk has it.

    On a network file system the write-ahead log is not used, since its index is shared memory.
    """
    create_private(path)
    return _connect(
        path,
        # For a file that has no tables yet; in any other it takes effect with the next VACUUM.
        "auto_vacuum=INCREMENTAL",
        "journal_mode=" + ("DELETE" if network else "WAL"),
        "synchronous=FULL",
        # Checkpoints are the writer's own, so that an error in one is seen and not passed over.
        "wal_autocheckpoint=0",
        "cache_size=-65536",
        "temp_store=MEMORY",
    )


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read; used by one thread at a time."""
    return _connect(path, "query_only=ON")


def connect_examiner(path: Path) -> sqlite3.Connection:
    """A connection that can only read, and reads what is damaged too, so that it can be named."""
    # With this a table whose definition is damaged does not hide the others.
    connection = _connect(path, "query_only=ON", "writable_schema=ON")
    connection.text_factory = _any_text
    return connection


def _any_text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")


def _connect(path: Path, *pragmas: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=30.0, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def create_private(path: Path) -> None:
    """Make the store's file with mode 0600; SQLite gives its log and index the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    os.chmod(path, 0o600)
