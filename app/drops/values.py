"""Values of a parameter sweep as the user writes them on one line. Pure."""

from __future__ import annotations

import re

from broker_core.jdl.parametric import is_parametric, sequence
from broker_core.jdl.parse import parse

PARAMETER = "_PARAM_"
"""What a description holds in the place of the value."""
MOST = 10_000
_RANGE = re.compile(r"\s*(-?\d{1,9})\s*(?:\.\.|-|–)\s*(-?\d{1,9})(?:\s*:\s*(\d{1,9}))?\s*")


def values_in(text: str) -> int | None:
    """How many values a parametric description gives itself; None if it is no such description."""
    ad = parse(text).ad if "parameters" in text.lower() else None
    if ad is None or not is_parametric(ad):
        return None
    return len(sequence(ad) or ())


def values_of(line: str) -> list[str]:
    """`1-10`, `0-100:5` (a step), or words divided by commas; empty if nothing is written.

    Raises ValueError, in words, for more than 10,000 values.
    """
    values = [value for part in line.split(",") for value in _part(part)]
    if len(values) > MOST:
        raise ValueError(f"{len(values):,} values; at most {MOST:,} at once.")
    return values


def _part(part: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if match is None:
        return [part.strip()] if part.strip() else []
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1) or 1
    count = abs(last - first) // step + 1
    if count > MOST:
        raise ValueError(f"{part.strip()} makes {count:,} values; at most {MOST:,} at once.")
    sign = 1 if last >= first else -1
    return [str(first + sign * step * number) for number in range(count)]
