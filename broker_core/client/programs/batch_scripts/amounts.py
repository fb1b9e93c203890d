"""Sizes, times and ranges of numbers, as batch systems write them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from broker_core.jdl.limits import LIST_MAX

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{0,6})?|\.\d{1,6})\s*([kmgtp]?)(?:i?b|w)?", re.IGNORECASE | re.ASCII)
_MEGABYTES = {"b": 1 / (1 << 20), "k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2, "p": 1024.0**3}
_CLOCK = re.compile(r"\d{0,9}(?::\d{0,9}){0,3}", re.ASCII)
_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?(?::(\d{1,9}))?", re.ASCII)
_MOST_INDICES = 1_000_000
_MOST_SECONDS = 10**9


def megabytes(text: str, unit: str) -> int | None:
    """A size such as `4G`, `4gb` or `4000` in megabytes, rounded up; None if it is none.

    `unit` is that of a plain number: b, k, m, g or t.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    plain = text.strip()[-1:].lower() == "b" and not found[2]
    letter = "b" if plain else (found[2].lower() or unit)
    size = float(found[1]) * _MEGABYTES[letter] * (8 if text.strip()[-1:].lower() == "w" else 1)
    return math.ceil(size) if size < 1e12 else None


def clock(text: str) -> int | None:
    """Seconds of `[[days:]hours:]minutes:seconds` or plain seconds; None if it is no such time."""
    if not _CLOCK.fullmatch(text.strip()) or not any(map(str.isdigit, text)):
        return None
    total = 0
    parts = [int(part or 0) for part in text.strip().split(":")]
    for part, size in zip(reversed(parts), (1, 60, 3600, 86400), strict=False):
        total += part * size
    return total if total < _MOST_SECONDS else None


def time_text(seconds: int) -> str:
    """Seconds as `WallTime` has them: hours, minutes and seconds."""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def count(text: str) -> int | None:
    """A whole number above 0; None if it is none."""
    stripped = text.strip()
    good = stripped.isascii() and stripped.isdigit() and len(stripped) <= 9
    return (int(stripped) or None) if good else None


@dataclass(frozen=True, slots=True)
class ArrayIndices:
    """The numbers of the tasks of an array."""

    values: range | tuple[int, ...]
    limit: int = 0
    """How many may run at the same time; 0: as many as can."""

    @property
    def step(self) -> int:
        """Between two of them where that is the same for all, else 1."""
        return self.values.step if isinstance(self.values, range) else 1


def array_indices(text: str) -> ArrayIndices:
    """Read `0-9`, `1-100:2`, `1,3,5-7` with an optional `%4` behind it.

    Raises ValueError, in words, for what is no such list, and for more than a million tasks.
    """
    spans, percent, limit = text.strip().partition("%")
    most = count(limit) if percent else 0
    if most is None:
        raise ValueError(f"“{limit}” behind the % is no number above 0.")
    ranges = [_span(part) for part in spans.split(",")]
    if sum(map(len, ranges)) > _MOST_INDICES:
        raise ValueError(f"These are more than {_MOST_INDICES:,} tasks.")
    if len(ranges) == 1:
        return ArrayIndices(ranges[0], most)
    if sum(map(len, ranges)) > LIST_MAX:
        raise ValueError(f"Several ranges may have {LIST_MAX:,} numbers in all; one range may have more.")
    return ArrayIndices(tuple(dict.fromkeys(number for one in ranges for number in one)), most)


def _span(text: str) -> range:
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"“{text.strip()}” is no number and no range such as 1-10 or 1-10:2.")
    first, step = int(found[1]), int(found[3] or 1)
    last = int(found[2]) if found[2] is not None else first
    if last < first or step < 1:
        raise ValueError(f"The range “{text.strip()}” has no numbers in it.")
    return range(first, last + 1, step)
