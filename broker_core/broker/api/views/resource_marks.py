"""Marks and locks of a resource, in words (CB-CACHE-06 to CB-CACHE-08)."""

from __future__ import annotations

from typing import Any

from broker_core.reactor.reactor import Now
from broker_core.resources.cache import ResourceCache
from broker_core.resources.entry import ResourceEntry
from broker_core.resources.locks import Lock
from broker_core.resources.marks import BAD, DOWN, DRAINED, STALE, THROTTLED, Fault
from broker_core.resources.pool import Pool
from broker_core.resources.reputation import Throttle

_STATUS = "gluecestatestatus"
_CLOSED = frozenset({"draining", "closed", "queueing"})
"""States of a queue that takes no new jobs, or does not start them."""


def lock_until(lock: Lock, now: Now) -> float:
    """When a lock ends at the latest, seconds since the epoch."""
    return now.wall + lock.until - now.monotonic


def marks(cache: ResourceCache, pool: Pool, entry: ResourceEntry, now: Now) -> dict[str, str]:
    """Mark to its reason, with what ends it."""
    found = {}
    if now.monotonic >= entry.due:
        found[STALE] = "No source has spoken of it for three intervals; it is matched again once one does."
    trouble = cache.troubles.at(entry.ce, now.monotonic)
    if trouble is not None:
        found |= _troubled(trouble, now)
    throttle = cache.reputation.at(entry.ce, now.monotonic)
    if throttle is not None:
        found[THROTTLED] = throttled(throttle, now)
    closed = cache.links.at(entry)
    if closed is not None:
        found[closed.mark] = f"{closed.told[:1].upper()}{closed.told[1:]}."
    status = _value(pool, entry)
    if isinstance(status, str) and status.lower() in _CLOSED:
        found[DRAINED] = f"The site says {status}: it takes no new jobs until it says Production again."
    return found


def throttled(throttle: Throttle, now: Now) -> str:
    """Why a resource gets few jobs, and until when."""
    most = "1 job" if throttle.most == 1 else f"{throttle.most} jobs"
    rest = max(0.0, throttle.until - now.monotonic) / 60.0
    pause = throttle.next - now.monotonic
    following = f", the next in {pause:.0f} s" if pause > 0 else ""
    return (
        f"It fails its jobs ({throttle.reason}) and gets {most} at a time{following}, until jobs end well "
        f"there, at most {rest:.0f} min."
    )


def _troubled(trouble: Fault, now: Now) -> dict[str, str]:
    if trouble.down:
        return {DOWN: f"{trouble.reason}. It is left alone until a source reports it healthy again."}
    rest = max(0.0, trouble.until - now.monotonic)
    return {BAD: f"{trouble.reason}. It is tried again in {rest:.0f} s."}


def _value(pool: Pool, entry: ResourceEntry) -> Any:
    column = pool.columns.column(_STATUS)
    return None if column is None else column.value(entry.row)
