"""Bars on resources as conditions like any other: counted, and told at each resource, by one definition."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from broker_core.matching.condition import Condition, Holds
from broker_core.matching.view import View
from broker_core.resources.pool import Bar

_TEXTS = {
    "stale": "heard of lately",
    "status": "works",
    "lock": "not locked by another job",
    "access": "can be used by this broker",
    "policy": "open to new jobs",
}
"""The condition that a bar of this origin says does not hold."""


class Bars:
    """The bars of a pool as they are now, whatever becomes of the pool."""

    def __init__(self, barred: Mapping[int, Bar], size: int) -> None:
        self._barred = dict(barred)
        self._size = size
        self.down = self._rows(list(self._barred))
        """By row: a bar is down."""
        self.for_good = self._rows([row for row, bar in self._barred.items() if not bar.now_only])
        """By row: a bar is down that does not pass by itself."""

    def conditions(self) -> list[Condition]:
        """One for each origin that bars some resource."""
        rows: dict[str, list[int]] = {}
        for row, bar in self._barred.items():
            rows.setdefault(bar.origin, []).append(row)
        known = [origin for origin in _TEXTS if origin in rows]
        return [self._condition(origin, rows[origin]) for origin in dict.fromkeys([*known, *rows])]

    def _condition(self, origin: str, rows: list[int]) -> Condition:
        holds = ~self._rows(rows)
        return Condition(_TEXTS.get(origin, origin), origin, lambda view: holds, self._words, lasting=False)

    def _words(self, view: View, row: int, held: bool) -> str:
        return "" if held else self._barred[row].reason

    def _rows(self, rows: list[int]) -> Holds:
        found = np.zeros(self._size, np.bool_)
        found[rows] = True
        return found
