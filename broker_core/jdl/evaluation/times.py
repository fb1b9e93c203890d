"""Points in time and spans of time, as values of expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_SPAN = re.compile(
    r"\s*(-?)(?:([0-9]{1,9})\+)?(?:(?:([0-9]{1,9}):)?([0-9]{1,9}):)?([0-9]{1,9})(\.[0-9]{1,9})?\s*"
)
_POINT = re.compile(
    r"\s*([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T ]([0-9]{2}):?([0-9]{2}):?([0-9]{2}))?"
    r"(?:Z|([-+])([0-9]{2}):?([0-9]{2}))?\s*"
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_SECONDS_MIN, _SECONDS_MAX = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: seconds since 1970, and the zone in which it is shown (seconds east)."""

    seconds: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time in seconds."""

    seconds: float


def moment(text: str) -> Moment | None:
    """Read `2024-01-02T03:04:05+01:00`; without a zone it is UTC. None if it is no such thing."""
    found = _POINT.fullmatch(text)
    if found is None:
        return None
    numbers = [int(part or 0) for part in found.groups()[:6]]
    offset = int(found[8] or 0) * 3600 + int(found[9] or 0) * 60
    offset = -offset if found[7] == "-" else offset
    try:
        there = datetime(*numbers, tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None
    return Moment(int(there.timestamp()) - offset, offset)


def span(text: str) -> Span | None:
    """Read `[-]days+hours:minutes:seconds`, where parts in front may be missing; None if it is none."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(found[place] or 0) for place in (2, 3, 4, 5))
    total = days * 86400 + hours * 3600 + minutes * 60 + seconds + float(found[6] or 0)
    return Span(-total if found[1] else float(total))


def moment_text(value: Moment) -> str:
    """As `string()` shows it; UTC is written -00:00."""
    there = _calendar(value.seconds + value.offset)
    if there is None:
        return ""
    sign = "+" if value.offset > 0 else "-"
    minutes = abs(value.offset) // 60
    return f"{there:%Y-%m-%dT%H:%M:%S}{sign}{minutes // 60:02}:{minutes % 60:02}"


def span_text(value: Span) -> str:
    """As `string()` shows it, such as 1+02:03:04; parts of a second are left out."""
    total = int(abs(value.seconds))
    days, rest = divmod(total, 86400)
    hours, minutes, seconds = rest // 3600, rest // 60 % 60, rest % 60
    parts = [hours, minutes, seconds] if days or hours else [minutes, seconds] if minutes else [seconds]
    text = ":".join(f"{part:02}" for part in parts)
    return ("-" if value.seconds < 0 else "") + (f"{days}+" if days else "") + text


def formatted(seconds: int, form: str) -> str | None:
    """A point in time in UTC by the signs of strftime, in English everywhere; None out of range."""
    there = _calendar(seconds)
    if there is None:
        return None
    shown = _signs(there, seconds)
    return re.sub(r"%(.)", lambda sign: shown.get(sign[1], sign[0]), form, flags=re.DOTALL)


def _calendar(seconds: int) -> datetime | None:
    if not _SECONDS_MIN <= seconds <= _SECONDS_MAX:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def _signs(there: datetime, seconds: int) -> dict[str, str]:
    weekday, month, day = (there.weekday() + 1) % 7, _MONTHS[there.month - 1], there.timetuple().tm_yday
    clock = f"{there.hour:02}:{there.minute:02}:{there.second:02}"
    return {
        "a": _DAYS[weekday][:3], "A": _DAYS[weekday], "b": month[:3], "B": month, "h": month[:3],
        "c": f"{_DAYS[weekday][:3]} {month[:3]} {there.day:2} {clock} {there.year}",
        "C": f"{there.year // 100:02}", "d": f"{there.day:02}", "e": f"{there.day:2}",
        "D": f"{there.month:02}/{there.day:02}/{there.year % 100:02}",
        "F": f"{there.year}-{there.month:02}-{there.day:02}", "H": f"{there.hour:02}",
        "I": f"{there.hour % 12 or 12:02}", "j": f"{day:03}", "m": f"{there.month:02}",
        "M": f"{there.minute:02}", "n": "\n", "p": "PM" if there.hour > 11 else "AM",
        "R": clock[:5], "s": str(seconds), "S": f"{there.second:02}", "t": "\t", "T": clock,
        "u": str(weekday or 7), "U": f"{(day + 6 - weekday) // 7:02}", "w": str(weekday),
        "W": f"{(day + 6 - (weekday - 1) % 7) // 7:02}",
        "x": f"{there.month:02}/{there.day:02}/{there.year % 100:02}", "X": clock,
        "y": f"{there.year % 100:02}", "Y": str(there.year), "z": "+0000", "Z": "UTC", "%": "%",
    }  # fmt: skip
