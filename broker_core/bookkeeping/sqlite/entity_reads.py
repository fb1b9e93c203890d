"""Questions that are put to the store about entities that are no jobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import orjson

from broker_core.reactor.entities import ENTITY_PREFIX

EntityStep = tuple[float, str, str | None, str]
"""Time in seconds since the epoch, owner, state before (None: it began), state after."""


def entity_steps(connection: sqlite3.Connection, kind: str) -> list[EntityStep]:
    """All steps of the entities of a kind, in order."""
    ours = "job >= ? AND job < ? AND type GLOB ?"
    query = f"SELECT time, owner, old, new FROM events WHERE {ours} ORDER BY position"
    return connection.execute(query, (ENTITY_PREFIX, f"{ENTITY_PREFIX}~", f"{kind}.*")).fetchall()


def recorded_entities(connection: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
    """Those of these entities that have begun, though they may be over."""
    query = "SELECT DISTINCT job FROM events WHERE job IN (SELECT value FROM json_each(?)) AND seq = 1"
    return {row[0] for row in connection.execute(query, (orjson.dumps(list(ids)).decode(),))}
