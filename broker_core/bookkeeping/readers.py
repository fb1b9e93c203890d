"""Threads that read, each with a connection of its own, so that no reader waits for the writer."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from broker_core.bookkeeping.connection import connect_reader
from broker_core.bookkeeping.faults import damage_of
from broker_core.bookkeeping.threads import ready_threads

Answer = TypeVar("Answer")
THREADS = 2


class Readers:
    """A small pool; each call sees one consistent state of the store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._pool = ready_threads(THREADS, "store-reader")

    async def read(self, query: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run `query(connection, *arguments)` in a reader's thread, inside one read transaction."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._run, query, arguments)

    def _run(self, query: Callable[..., Answer], arguments: tuple[Any, ...]) -> Answer:
        try:
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                return query(connection, *arguments)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise damage_of(error, self._path) from error

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect_reader(self._path)
            self._open.append(connection)
        return connection

    def close(self) -> None:
        """End the threads and close their connections."""
        self._pool.shutdown()
        for connection in self._open:
            connection.close()
        self._open.clear()
