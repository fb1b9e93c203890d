"""Spools with text for tests of logs."""

from __future__ import annotations

from app.inspector.logs.spool import LogSpool


def spooled(*parts: bytes) -> LogSpool:
    spool = LogSpool()
    for part in parts:
        spool.append(part)
    return spool
