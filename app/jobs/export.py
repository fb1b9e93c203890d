"""The jobs table for CSV: exact values, every job of the query (CB-UI-15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.jobs.columns import state_word
from app.model import words
from app.model.csv_file import Written

_FIELDS = (
    *("id", "name", "parameter", "structure", "interactive", "site", "cpus"),
    *("submitted", "started", "ended", "exit_code", "signal", "batch", "reason"),
)
_TIMES = frozenset({"submitted", "started", "ended"})
Columns = Mapping[str, Sequence[Any]]


def jobs_table(columns: Columns, numbers: Sequence[int], now: float) -> Written:
    """Return the rows of these numbers."""
    return Written(("state", *_FIELDS), _rows(columns, numbers, now))


def _rows(columns: Columns, numbers: Sequence[int], now: float) -> Iterator[list[Any]]:
    for number in numbers:
        yield [state_word(columns, number, now), *(_value(name, columns[name][number]) for name in _FIELDS)]


def _value(name: str, value: Any) -> Any:
    return words.exact(value) if name in _TIMES else value
