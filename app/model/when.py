"""Durations and days as the query language writes them. Pure."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|m|min|h|d|w)?$")
_UNIT = {None: 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds(text: str) -> float | None:
    """Return the seconds of `90`, `90s`, `5m`, `2h`, `3d` or `1w`; None if it is none of these."""
    found = _DURATION.match(text)
    return float(found[1]) * _UNIT[found[2]] if found else None


@lru_cache(maxsize=64)
def span(text: str, now: float) -> tuple[float, float] | None:
    """Return the local-time span of `today`, `yesterday`, `week`, `2026-11-20` or a duration before now."""
    midnight = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    one = timedelta(days=1)
    if text == "today":
        return midnight.timestamp(), (midnight + one).timestamp()
    if text == "yesterday":
        return (midnight - one).timestamp(), midnight.timestamp()
    if text == "week":
        return (midnight - 6 * one).timestamp(), (midnight + one).timestamp()
    length = seconds(text)
    if length is not None:
        return now - length, float("inf")
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        return None
    return day.timestamp(), (day + one).timestamp()
