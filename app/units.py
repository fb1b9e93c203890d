"""Numbers, times and sizes in words. Pure."""

from __future__ import annotations

import time
from datetime import datetime

_STEPS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_ROUND = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"))
"""Decimal units, in which limits are set."""


def duration(seconds: float | None) -> str:
    """Return e.g. `24 ms` or `3 m 12 s`: at most the two greatest units; empty for None."""
    if seconds is None:
        return ""
    seconds = max(0.0, seconds)
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.0005 else "0 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    place = next(place for place, (_, unit) in enumerate(_STEPS) if whole >= unit)
    (name, unit), (smaller, step) = _STEPS[place], _STEPS[place + 1]
    rest = whole % unit // step
    return f"{whole // unit} {name}" + (f" {rest:02d} {smaller}" if rest else "")


def size(count: float) -> str:
    """Return bytes as e.g. `12 B` or `1.2 MiB`; what is round in decimal units, as limits are, as `5 MB`."""
    if count and not count % 10**6:
        unit, name = next(one for one in _ROUND if count >= one[0])
        return f"{count / unit:,g} {name}"
    return binary_size(count)


def binary_size(count: float) -> str:
    """Return bytes as e.g. `12 B` or `1.2 MiB`, round ones too: sizes of one sentence have units alike."""
    for name in ("B", "KiB", "MiB", "GiB"):
        if count < 1023.95:
            return f"{count:.0f} {name}" if name == "B" or count >= 100 else f"{count:.1f} {name}"
        count /= 1024
    return f"{count:.1f} TiB"


def ago(then: float | None, now: float) -> str:
    """Return e.g. `2 min ago`, or the day if it is long ago; empty for None or 0."""
    if not then:
        return ""
    past = now - then
    if past < 5:
        return "just now"
    if past < 60:
        return f"{int(past)} s ago"
    if past < 3600:
        return f"{past // 60:.0f} min ago"
    if past < 86400:
        return f"{past // 3600:.0f} h ago"
    moment, today = datetime.fromtimestamp(then), datetime.fromtimestamp(now)
    if past < 7 * 86400:
        return f"{moment:%a %H:%M}"
    return f"{moment:%d %b}" if moment.year == today.year else f"{moment:%d %b %Y}"


def since(then: float, now: float) -> str:
    """Return when something began, as after “since”: `14:05`, with the day if that was not today."""
    moment = datetime.fromtimestamp(then)
    today = moment.date() == datetime.fromtimestamp(now).date()
    return f"{moment:%H:%M}" if today else f"{moment:%d %b, %H:%M}"


def moment(then: float, now: float) -> str:
    """Return local time to the second, with the day if that was not today."""
    at, today = datetime.fromtimestamp(then), datetime.fromtimestamp(now).date()
    return f"{at:%H:%M:%S}" if at.date() == today else f"{at:%d %b, %H:%M}"


def exact(then: float | None) -> str:
    """Return local date and time to the second; empty for None or 0."""
    return f"{datetime.fromtimestamp(then):%Y-%m-%d %H:%M:%S}" if then else ""


def count(number: int, singular: str, plural: str = "") -> str:
    """Return e.g. `1 job` or `3 jobs`, with thousands apart."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def counted(number: int, one: str, many: str) -> str:
    """`1 file`, `2 files`, `10,000 jobs`."""
    return f"{number:,} {one if number == 1 else many}"


def clock(moment: float) -> str:
    """Say the time of day of a moment, local."""
    return time.strftime("%H:%M:%S", time.localtime(moment))
