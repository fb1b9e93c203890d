"""Descriptions and file lists are stored under their own hashes, so damage in them shows (case 5)."""

from __future__ import annotations

import hashlib
import sqlite3

_TABLES = {"descriptions": "text", "filesets": "files"}
_OF_JOBS = "SELECT id, description, files FROM jobs"


def altered(connection: sqlite3.Connection, table: str) -> set[str]:
    """Keys of a table of contents whose text is not what the key is the SHA-256 of."""
    rows = connection.execute(f"SELECT sha, {_TABLES[table]} FROM {table}")
    return {str(sha) for sha, text in rows if _hash(text) != sha}


def _hash(text: object) -> str:
    return hashlib.sha256(str(text).encode("utf-8", "surrogateescape")).hexdigest()


def present(connection: sqlite3.Connection, table: str) -> set[str]:
    """Keys of a table of contents that can be relied on."""
    return {str(row[0]) for row in connection.execute(f"SELECT sha FROM {table}")} - altered(
        connection, table
    )


def jobs_without_files(connection: sqlite3.Connection) -> set[str]:
    """Jobs whose list of files is lost or damaged."""
    whole = present(connection, "filesets") | {""}
    return {str(job) for job, _, files in connection.execute(_OF_JOBS) if files not in whole}
