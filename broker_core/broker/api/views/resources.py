"""Pages of the Resource Cache as they are shown (CB-UI-09), made in slices: nobody waits for a long one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import orjson

from broker_core.broker.api.views.resource_marks import lock_until, marks
from broker_core.reactor.reactor import Now
from broker_core.resources.cache import ResourceCache
from broker_core.resources.entry import ResourceEntry
from broker_core.resources.pool import Pool
from broker_core.resources.tags import MORE, listed
from broker_core.wire.resources import RESOURCE_COLUMNS, TagView

SLICE = 500
"""Rows between two turns of the event loop: about two milliseconds."""
_MOST_TAGS = 10_000
_TAGS = "gluehostapplicationsoftwareruntimeenvironment"
_OF_COLUMN = {
    "country": "gluesitecountry",
    "latitude": "gluesitelatitude",
    "longitude": "gluesitelongitude",
    "lrms": "glueceinfolrmstype",
    "tags": _TAGS,
}
"""Column to the GLUE name that it shows."""
_OF_COUNT = {"total_cpus": "total", "free_cpus": "free", "running": "running", "waiting": "waiting"}
Rows = Sequence[int]


async def resources_page(cache: ResourceCache, offset: int, limit: int, now: Now) -> bytes:
    """A `ResourcesPage` in JSON, ordered by computing element."""
    pool = cache.pool(now.monotonic)
    order = pool.columns.order(pool.size)
    about = {"total": len(order), "generation": cache.board.changes, "offset": offset, "now": now.wall}
    # Names, as a row may be another one's by the time its turn comes.
    ces = [pool.columns.ces[row] for row in order[offset : offset + limit].tolist()]
    parts: dict[str, list[bytes]] = {name: [] for name in RESOURCE_COLUMNS}
    for start in range(0, len(ces), SLICE):
        for name, values in _columns(cache, pool, ces[start : start + SLICE], now):
            if values:
                parts[name].append(orjson.dumps(values)[1:-1])
        await asyncio.sleep(0)
    columns = b",".join(b'"%b":[%b]' % (name.encode(), b",".join(part)) for name, part in parts.items())
    return b'{"columns":{%b},%b' % (columns, orjson.dumps(about)[1:])


def tags_of(cache: ResourceCache, now: Now) -> list[TagView]:
    """Run-time tags by name, with the sites that show them; lists that are alike are read once."""
    pool = cache.pool(now.monotonic)
    column = pool.columns.column(_TAGS)
    if column is None:
        return []
    found: dict[str, set[str]] = {}
    for code, value in enumerate(column.values):
        tags = [one for one in listed(value) if not one.endswith((MORE, ":"))]
        rows = np.flatnonzero(column.codes(pool.size) == code).tolist() if tags else ()
        sites = {pool.columns.sites[row] for row in rows}
        for tag in tags if sites else ():
            found.setdefault(tag, set()).update(sites)
    return [TagView(name=name, sites=sorted(found[name])) for name in sorted(found)[:_MOST_TAGS]]


def _columns(
    cache: ResourceCache, pool: Pool, ces: Sequence[str], now: Now
) -> Iterator[tuple[str, Sequence[Any]]]:
    """The columns of some resources; those that have gone in the meantime are left out."""
    entries = [cache.entries[ce] for ce in ces if ce in cache.entries]
    rows = [entry.row for entry in entries]
    yield "ce", [entry.ce for entry in entries]
    yield "site", [entry.site for entry in entries]
    for name, shown in _OF_COLUMN.items():
        yield name, _shown(pool, shown, rows, _NARROWED[name])
    for name, count in _OF_COUNT.items():
        yield name, getattr(pool, count)[rows].tolist()
    yield "committed", [entry.given for entry in entries]
    yield "updated", [entry.heard for entry in entries]
    yield "sources", [",".join(entry.hearings) for entry in entries]
    yield "access", [entry.account for entry in entries]
    yield from _states(cache, pool, entries, now)


def _states(
    cache: ResourceCache, pool: Pool, entries: Sequence[ResourceEntry], now: Now
) -> Iterator[tuple[str, Sequence[Any]]]:
    locks = [cache.lock_of(entry.ce, now.monotonic) for entry in entries]
    yield "lock_owner", [lock.owner if lock else "" for lock in locks]
    yield "lock_until", [lock_until(lock, now) if lock else None for lock in locks]
    yield "marks", [",".join(marks(cache, pool, entry, now)) for entry in entries]


def _shown(pool: Pool, name: str, rows: Rows, narrowed: Callable[[Any], Any]) -> list[Any]:
    """One attribute of some rows; distinct values are looked at once."""
    column = pool.columns.column(name)
    if column is None:
        return [narrowed(None)] * len(rows)
    codes = column.codes(pool.columns.size)[rows].tolist()
    known = {code: narrowed(column.values[code]) for code in set(codes)}
    return [known[code] for code in codes]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _degrees(most: float, value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= most:
        return None
    return float(value)


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple) else int(isinstance(value, str))


_NARROWED: dict[str, Callable[[Any], Any]] = {
    "country": _word,
    "latitude": partial(_degrees, 90.0),
    "longitude": partial(_degrees, 180.0),
    "lrms": _word,
    "tags": _count,
}
