"""The table as CSV: the shown columns, exact values, every job of the query (CB-UI-15)."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.jobs.columns import state_word
from app.model import words

_FIELDS = (
    *("id", "name", "parameter", "structure", "interactive", "site", "cpus"),
    *("submitted", "started", "ended", "exit_code", "signal", "batch", "reason"),
)
_TIMES = frozenset({"submitted", "started", "ended"})
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that begins so for a formula."""


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]], numbers: Sequence[int], now: float) -> int:
    """Write the rows of these numbers; returns how many. Raises OSError."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["state", *_FIELDS])
        for number in numbers:
            writer.writerow([state_word(columns, number, now), *_values(columns, number)])
    return len(numbers)


def _values(columns: Mapping[str, Sequence[Any]], number: int) -> list[str]:
    return [_text(name, columns[name][number]) for name in _FIELDS]


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in _TIMES:
        return words.exact(value)
    text = str(value)
    return "'" + text if isinstance(value, str) and name != "id" and text.startswith(_DANGEROUS) else text
