"""One record that a program published: a line of JSON, and for arrays the bytes that may follow it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from broker_core.jobs.published.parameters import Parameter, ParameterUse, read_parameter
from broker_core.jobs.published.texts import NotARecord, shown

FILE = ".crossdesk-data"
"""Name of the records in the job's directory; no file of the job's own, and not listed among them."""
MOST = 1 << 30
"""Bytes that a job may publish; the starter and those who read cut the rest off."""
MOST_PAYLOAD = 64 << 20
"""Bytes of one array."""
MOST_POINTS = 1 << 20
"""Points of one record."""
_MOST_ROWS, _MOST_COLUMNS, _MOST_CELL = 10_000, 100, 1000
_MOST_SERIES = 256
_TYPES = frozenset("fiu")
_SIZES = {"f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """New points of curves. `x` None: they are counted on."""

    values: Mapping[str, np.ndarray]
    x: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRecord:
    """An array of one to three dimensions; bytes in a last dimension of 3 or 4 are colors."""

    name: str
    values: np.ndarray

    @property
    def is_picture(self) -> bool:
        """True for colors of pixels."""
        return is_picture(self.values)


@dataclass(frozen=True, slots=True)
class TableRecord:
    """A table, which takes the place of one of the same name."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the program is."""

    share: float
    """0 to 1."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class ArrayHeader:
    """A line that says which bytes follow it."""

    name: str
    shape: tuple[int, ...]
    type: str
    size: int
    """Bytes that follow."""

    def record(self, payload: bytes) -> ArrayRecord:
        """The array, with the bytes that followed."""
        return ArrayRecord(self.name, np.frombuffer(payload, self.type).reshape(self.shape))


Record = Points | ArrayRecord | TableRecord | Progress | Parameter | ParameterUse


def is_picture(values: np.ndarray) -> bool:
    """True for colors of pixels: bytes, height x width x 3 or 4."""
    return values.ndim == 3 and values.dtype == np.uint8 and values.shape[2] in (3, 4)


def read_line(line: bytes) -> Record | ArrayHeader:
    """What a line says; raises NotARecord."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise NotARecord("It is no line of JSON.") from error
    if not isinstance(found, dict):
        raise NotARecord("It is no object of JSON.")
    for kind, reader in _READERS.items():
        if kind in found:
            try:
                return reader(found)
            except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
                raise NotARecord(f"Its values are not those of a record of kind {kind}.") from error
    raise NotARecord(f"It has none of {', '.join(_READERS)}.")


def _points(found: Mapping[str, Any]) -> Points:
    series = found["series"]
    if not isinstance(series, dict) or not 0 < len(series) <= _MOST_SERIES:
        raise NotARecord("Its series are no names with numbers.")
    values = {shown(name): _numbers(value) for name, value in series.items()}
    x = None if found.get("x") is None else _numbers(found["x"])
    if x is not None and any(len(one) != len(x) for one in values.values()):
        raise NotARecord("It has not as many values as it has x.")
    return Points(values, x)


def _numbers(value: Any) -> np.ndarray:
    """One number or a list of them."""
    if isinstance(value, bool) or not isinstance(value, int | float | list):
        raise NotARecord("Its values are no numbers.")
    made = np.array(value, dtype=float, ndmin=1)
    if made.ndim != 1 or len(made) > MOST_POINTS:
        raise NotARecord("Its values are no list of numbers, or too many.")
    return made


def _array(found: Mapping[str, Any]) -> ArrayRecord | ArrayHeader:
    name = shown(found["array"])
    if "values" in found:
        values = np.array(found["values"], dtype=float)
        if not 1 <= values.ndim <= 3 or not values.size:
            raise NotARecord("An array has one to three dimensions, and something in each.")
        return ArrayRecord(name, values)
    return _header(name, found["shape"], found["type"], found["bytes"])


def _header(name: str, shape: Any, kind: Any, size: Any) -> ArrayHeader:
    if not isinstance(shape, list) or not 1 <= len(shape) <= 3:
        raise NotARecord("An array has one to three dimensions.")
    if not all(type(one) is int and 0 < one <= MOST_PAYLOAD for one in (*shape, size)):
        raise NotARecord(f"An array has at least one value, and at most {MOST_PAYLOAD >> 20} MiB.")
    letters = kind.lstrip("<>")
    if letters[:1] not in _TYPES or letters[1:] not in map(str, _SIZES[letters[0]]):
        raise NotARecord("The type of an array is one of f2 to f8, i1 to i8, u1 to u8.")
    order = ">" if kind.startswith(">") else "<"
    if math.prod(shape) * int(letters[1:]) != size:
        raise NotARecord("The shape and type of an array do not come to its bytes.")
    return ArrayHeader(name, tuple(shape), order + letters, size)


def _table(found: Mapping[str, Any]) -> TableRecord:
    columns, rows = found["columns"], found["rows"]
    if not isinstance(columns, list) or not isinstance(rows, list) or not 0 < len(columns) <= _MOST_COLUMNS:
        raise NotARecord("A table has columns and rows.")
    names = tuple(shown(one) for one in columns)
    return TableRecord(
        shown(found["table"]), names, tuple(_row(row, len(names)) for row in rows[:_MOST_ROWS])
    )


def _row(row: Sequence[Any], width: int) -> tuple[str | float, ...]:
    """As many cells as there are columns; lists and the like within are left out."""
    if not isinstance(row, list):
        raise NotARecord("A row of a table is a list.")
    cells = [
        one if isinstance(one, int | float) else shown(one, _MOST_CELL) if isinstance(one, str) else ""
        for one in row[:width]
    ]
    return (*cells, *[""] * (width - len(cells)))


def _progress(found: Mapping[str, Any]) -> Progress:
    share = float(found["progress"])
    if math.isnan(share):
        raise NotARecord("The progress is no number.")
    return Progress(min(1.0, max(0.0, share)), shown(found.get("text", ""), _MOST_CELL))


_READERS = {"series": _points, "array": _array, "table": _table, "progress": _progress} | {
    "parameter": read_parameter
}
