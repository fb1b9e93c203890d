"""Tables as CSV files: exact values, and nothing that a spreadsheet takes for a formula (CB-UI-15)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that begins so for a formula."""
_IDS = frozenset({"id", "job"})


@dataclass(frozen=True, slots=True)
class Written:
    """A table to be written; its rows may be made as they are asked for, in another thread."""

    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


def write_csv(path: Path, table: Written) -> int:
    """Write a table; returns the number of rows. Raises OSError."""
    number = 0
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(table.header)
        for number, row in enumerate(table.rows, 1):  # noqa: B007 - counted for the caller
            writer.writerow([cell(value, name) for name, value in zip(table.header, row, strict=True)])
    return number


def cell(value: Any, name: str = "") -> str:
    """Return a value as the text of a cell; None is empty, lists are separated by blanks.

    Ids are written as they are: they may begin with a dash, and are given to commands.
    """
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return cell(" ".join(map(str, value)))
    text = str(value)
    formula = isinstance(value, str) and name not in _IDS and text.startswith(_DANGEROUS)
    return "'" + text if formula else text
