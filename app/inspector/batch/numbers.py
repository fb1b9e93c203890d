"""Finding a number in the output of a job: in a column, under a key, or by a pattern. Pure."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

PARAMETER = "_PARAM_"
"""What stands in the name of a file for the value of its job, as in descriptions."""


_NAMES_MOST = 100
"""Names of a file that are offered, at most."""


def named_by_value(files: Sequence[str], value: str, others: Collection[str], other: str) -> list[str]:
    """The files of a job with a value; where the job of another value has one that is named by that value,
    its name says `_PARAM_` instead."""
    found = []
    for file in files:
        general = file.replace(value, PARAMETER) if value and file not in others else file
        found.append(general if general.replace(PARAMETER, other) in others else file)
    return found


class NumberSource(StrEnum):
    """How a number is found in a file; the values are the words of the form."""

    COLUMN = "Column of a table"
    KEY = "Key in JSON"
    PATTERN = "Regular expression"


class NumberNotFound(Exception):
    """There is no such number in the file; the message says what is there instead."""


@dataclass(frozen=True, slots=True)
class NumberQuestion:
    """Which number is wanted of each job."""

    path: str
    """File of the job's output; `_PARAM_` stands for the value of the job."""
    source: NumberSource
    what: str
    """Name of the column, key (`fit.slope` goes into objects, `runs.0` into lists) or expression."""

    def file_of(self, value: str) -> str:
        """The file of the job with this value."""
        return self.path.replace(PARAMETER, value)

    def answer(self, content: bytes) -> float:
        """The number in a file; of several the last. Raises NumberNotFound."""
        text = content.decode("utf-8-sig", "replace")
        return _FINDERS[self.source](text, self.what)


def names_in(source: NumberSource, content: bytes) -> list[str]:
    """Names under which a file has numbers: columns of a table, keys of JSON; none by a pattern."""
    text = content.decode("utf-8-sig", "replace")
    if source is NumberSource.COLUMN:
        names = [cell.strip() for cell in next(iter(_rows(text)), [])]
    elif source is NumberSource.KEY:
        with suppress(ValueError, RecursionError):
            return list(islice(_keys(json.loads(text), ""), _NAMES_MOST))
        return []
    else:
        return []
    return [name for name in names[:_NAMES_MOST] if name and _has_number(text, name)]


def _has_number(text: str, column: str) -> bool:
    try:
        _in_column(text, column)
    except NumberNotFound:
        return False
    return True


def _keys(node: Any, path: str) -> Iterator[str]:
    """Where numbers stand in what JSON holds; lists are not looked into."""
    if isinstance(node, dict):
        for key, value in node.items():
            if "." not in key:
                yield from _keys(value, f"{path}.{key}" if path else key)
    elif isinstance(node, int | float) and not isinstance(node, bool) and path:
        yield path


def _rows(text: str) -> list[list[str]]:
    dialect = max(",;\t", key=text.partition("\n")[0].count)
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=dialect) if row]


def _in_column(text: str, name: str) -> float:
    rows = _rows(text)
    head = [cell.strip() for cell in rows[0]] if rows else []
    if name not in head:
        raise NumberNotFound(f"There is no column {name!r}; columns are {', '.join(head[:8]) or 'none'}.")
    index = head.index(name)
    last = next((row[index] for row in reversed(rows[1:]) if len(row) > index and row[index].strip()), "")
    return _number(last)


def _under_key(text: str, key: str) -> float:
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        raise NumberNotFound(f"The file is not JSON: {error}.") from error
    for step in key.split("."):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif (
            isinstance(found, list) and re.fullmatch(r"-?\d+", step) and -len(found) <= int(step) < len(found)
        ):
            found = found[int(step)]
        else:
            there = ", ".join(list(found)[:8]) if isinstance(found, dict) else "none"
            raise NumberNotFound(f"There is no key {step!r}; keys are {there or 'none'}.")
    return _number(found)


def _by_pattern(text: str, pattern: str) -> float:
    try:
        found = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
    except re.error as error:
        raise NumberNotFound(f"The expression cannot be read: {error}.") from error
    if not found:
        raise NumberNotFound("The expression matches nothing.")
    last = found[0]
    return _number(last[1] if last.re.groups else last[0])


def _number(found: Any) -> float:
    try:
        return float(found)
    except (TypeError, ValueError) as error:
        raise NumberNotFound(f"{str(found)[:40]!r} is not a number.") from error


_FINDERS: dict[NumberSource, Callable[[str, str], float]] = {
    NumberSource.COLUMN: _in_column,
    NumberSource.KEY: _under_key,
    NumberSource.PATTERN: _by_pattern,
}
