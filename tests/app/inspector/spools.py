"""Spools with text for tests of logs."""

from __future__ import annotations

from app.inspector.spool import Spool


def spooled(*parts: bytes) -> Spool:
    spool = Spool()
    for part in parts:
        spool.append(part)
    return spool
