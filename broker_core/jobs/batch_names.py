"""The name that the jobs of a batch share, which is that of their description, and that of each. Pure."""

from __future__ import annotations

import re
from itertools import takewhile

_BETWEEN = "-_ .,:;=/#@"
"""What stands between a name and the value behind or before it."""
_LEAST = 2
"""Letters that names have to begin with in common before that is taken for a name."""


class BatchName:
    """Takes in names and values one after the other, in any order, and says what they have in common."""

    __slots__ = ("_around", "_few", "_prefix")

    def __init__(self) -> None:
        self._around: set[tuple[str, str]] | None = None
        self._prefix = ""
        self._few: list[str] = []

    def add(self, name: str, value: str) -> None:
        """Take in the name of a job and the value of its parameter ("" if it has none)."""
        if self._around is None:
            self._around, self._prefix = _around(name, value), name
        else:
            self._around = {(left, right) for left, right in self._around if left + value + right == name}
            if not name.startswith(self._prefix):
                same = (a == b for a, b in zip(self._prefix, name, strict=False))
                self._prefix = name[: sum(takewhile(bool, same))]
        if name not in self._few:
            self._few = sorted((*self._few, name))[:3]

    def common(self) -> str:
        """The common name; where there is none, the first names in the order of the alphabet."""
        if len(self._few) == 1:
            return self._few[0]
        for left, right in sorted(self._around or ()):
            left, right = left.rstrip(_BETWEEN), right.rstrip(_BETWEEN)
            if found := (left + right).strip() if left else right.lstrip(_BETWEEN):
                return found
        prefix = self._prefix.rstrip(f"{_BETWEEN}0123456789")
        if len(prefix) >= _LEAST:
            return prefix
        return ", ".join(self._few[:2]) + (", …" if len(self._few) > 2 else "")


def job_name(name: str, value: str) -> str:
    """The name of one job, with its value where the name does not tell that: `scan (35)`."""
    shown = not value or re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", name)
    return name if shown else f"{name} ({value})"


def _around(name: str, value: str) -> set[tuple[str, str]]:
    """What may stand before and behind the value in a name."""
    if not value:
        return {(name, "")}
    offsets = (at for at in range(len(name)) if name.startswith(value, at))
    return {(name[:at], name[at + len(value) :]) for at in offsets}
