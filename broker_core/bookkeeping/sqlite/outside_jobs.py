"""Jobs that were submitted outside CrossDesk, as rows of a table of their own."""

from __future__ import annotations

import sqlite3

from broker_core.bookkeeping.entries import OutsideChange


def change_outside_jobs(connection: sqlite3.Connection, change: OutsideChange) -> None:
    """Write a change, inside the caller's transaction."""
    rows = [(change.site, id, body) for id, body in change.rows.items()]
    connection.executemany("INSERT OR REPLACE INTO outside_jobs (site, id, body) VALUES (?, ?, ?)", rows)
    gone = [(change.site, id) for id in change.gone]
    connection.executemany("DELETE FROM outside_jobs WHERE site = ? AND id = ?", gone)


def outside_jobs(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Site, id and JSON text of all of them."""
    return connection.execute("SELECT site, id, body FROM outside_jobs ORDER BY site, id").fetchall()
