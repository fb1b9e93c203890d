"""Tables in text files: read, told apart from other text, and thinned for drawing. No widgets."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

import numpy as np

MOST_ROWS = 200_000
_SIGNS = (",", "\t", ";", " ")
_TYPES = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


@dataclass(slots=True)
class ParsedTable:
    """A table of texts with the columns that are numbers."""

    names: list[str]
    rows: list[list[str]]
    numbers: dict[int, np.ndarray] = field(default_factory=dict)
    """Column to its values; what is not a number is NaN."""
    cut: bool = False
    """True if there are more rows than were read."""


def looks_like_table(path: str) -> bool:
    """True if the name says that the file holds a table."""
    return any(path.lower().endswith(ending) for ending in _TYPES)


def read_table(content: bytes, path: str, whole: bool = True) -> ParsedTable:
    """Read a table; `whole` False: the content was cut, its last line may be half."""
    text = content.decode("utf-8-sig", "replace")
    if not whole:
        text = text[: text.rfind("\n") + 1]
    sign = _sign(text[:8192], _TYPES.get(path[path.rfind(".") :].lower(), ","))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if len(rows) > MOST_ROWS:
                break
            if row:
                rows.append(row)
    except csv.Error:
        whole = False
    return _table(rows, cut=not whole or len(rows) > MOST_ROWS)


def _sign(head: str, usual: str) -> str:
    line = head.split("\n", 1)[0]
    return usual if usual in line else max(_SIGNS, key=line.count)


def _table(rows: list[list[str]], cut: bool) -> ParsedTable:
    if not rows:
        return ParsedTable([], [])
    headed = not any(_number(cell) is not None for cell in rows[0])
    width = max(len(row) for row in rows)
    first = rows[0] if headed else []
    names = [first[n].strip() if n < len(first) else f"Column {n + 1}" for n in range(width)]
    table = ParsedTable(names, rows[1:] if headed else rows, cut=cut)
    for column in range(width):
        values = [_number(row[column]) if column < len(row) else None for row in table.rows]
        known = sum(value is not None for value in values)
        if known and known >= 0.9 * len(values):
            table.numbers[column] = np.array([np.nan if value is None else value for value in values])
    return table


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def across_of(table: ParsedTable) -> int | None:
    """Return the column to draw along the x axis: the first if its numbers only rise; None: row numbers."""
    if len(table.numbers) < 2:
        return None
    first = next(iter(table.numbers))
    steps = np.diff(table.numbers[first])
    return first if len(steps) and bool(np.all(steps > 0)) else None
