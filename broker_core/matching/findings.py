"""What holds where, for every condition and clause; worked out when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from broker_core.matching.clauses import VALUES, Clause
from broker_core.matching.columnar.arrays import TRUE, Truth
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition, Holds
from broker_core.matching.plan import MatchPlan, Requirement
from broker_core.resources.column import Codes
from broker_core.resources.pool import Exclusion

_TEXTS = {
    "stale": "heard of lately",
    "status": "works",
    "lock": "not locked by another job",
    "access": "can be used by this broker",
    "policy": "open to new jobs",
}
"""The condition that a bar of this origin says does not hold."""
Matrix = npt.NDArray[np.bool_]
Test = Condition | Requirement


class Exclusions:
    """The bars of a pool as they are now, whatever becomes of the pool."""

    def __init__(self, barred: Mapping[int, Exclusion], size: int) -> None:
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


@dataclass(frozen=True, slots=True)
class ClauseCount:
    """One condition or clause over all known resources; the fields of `wire.matches.ClauseCount`."""

    text: str
    origin: str
    satisfied: int
    """Resources at which it holds."""
    alone: int
    """Resources that would match if this alone were dropped."""
    start: int = 0
    """Offsets of the clause in the description; both 0 for a condition of the broker."""
    end: int = 0


class Findings:
    """Values of bars, of all conditions, then of all clauses of Requirements, by row.

    They show the pool as it is when they are first asked for.
    """

    def __init__(self, plan: MatchPlan, view: View) -> None:
        self.plan = plan
        self.view = view
        self.bars = Exclusions(view.pool.barred, view.size)
        barring = self.bars.conditions()
        self.barring = len(barring)
        """So many of the tests are bars; the first ones."""
        self.tests: list[Test] = [*barring, *plan.conditions, *plan.wish.requirements]
        self._told: dict[tuple[int, ...], Clause] = {}

    @cached_property
    def values(self) -> list[Truth]:
        """Of each test by row: FALSE, TRUE, UNDEFINED or ERROR."""
        return [_truth(test, self.view) for test in self.tests]

    @cached_property
    def failed(self) -> Matrix:
        """By test and row: it does not hold."""
        return np.array([held != TRUE for held in self.values], np.bool_).reshape(
            len(self.tests), self.view.size
        )

    @cached_property
    def when_idle(self) -> Matrix:
        """By test and row: it would not hold if the resource were idle and in production."""
        found = self.failed.copy()
        quiet = self.plan.view(self.view.pool.idle(), self.plan.context)
        quiet.now, quiet.surroundings = self.view.now, self.view.surroundings
        for place, test in enumerate(self.tests):
            if place < self.barring:
                found[place] &= self.bars.for_good
            elif isinstance(test, Condition):
                found[place] &= not test.now_only
            elif test.busy:
                found[place] = test.truth(quiet) != TRUE
        return found

    @cached_property
    def lasting(self) -> Matrix:
        """By test and row: it does not hold, and would not if the resource were idle either."""
        return self.failed & self.when_idle

    @cached_property
    def never(self) -> Matrix:
        """By row: the resource would not match if it were idle either."""
        return np.asarray(self.when_idle.any(axis=0))

    @cached_property
    def counts(self) -> tuple[ClauseCount, ...]:
        """How many resources satisfy each test, and how many fail it alone."""
        used = self.view.pool.columns.used[: self.view.size]
        failures = self.failed.sum(axis=0, dtype=np.int32)
        only = used & (failures == 1)
        known = int(np.count_nonzero(used))
        return tuple(
            self._count(test, known - int(np.count_nonzero(row & used)), int(np.count_nonzero(row & only)))
            for test, row in zip(self.tests, self.failed, strict=True)
        )

    @staticmethod
    def _count(test: Test, satisfied: int, alone: int) -> ClauseCount:
        if isinstance(test, Condition):
            return ClauseCount(test.text, test.origin, satisfied, alone)
        node = test.node
        return ClauseCount(test.wording.text, "requirements", satisfied, alone, node.start, node.end)

    def clauses(self, row: int) -> tuple[Clause, ...]:
        """Bars, conditions and clauses of Requirements at one row, with their values and in words."""
        return tuple(self._clause(place, row) for place in range(len(self.tests)))

    @cached_property
    def _read(self) -> list[list[Codes] | None]:
        """Codes of what the words of each test depend on; None where they depend on counts too."""
        return [_codes(test, self.view) for test in self.tests]

    def _clause(self, place: int, row: int) -> Clause:
        """Made once for all resources that are alike in what it reads."""
        value = self.values[place].item(row)
        later = value != TRUE and not self.lasting.item(place, row)
        read = self._read[place]
        if read is None:
            return self._worded(place, row, VALUES[value], later)
        key = (place, value, later, *[codes.item(row) for codes in read])
        if key not in self._told:
            self._told[key] = self._worded(place, row, VALUES[value], later)
        return self._told[key]

    def _worded(self, place: int, row: int, value: str, later: bool) -> Clause:
        test = self.tests[place]
        if isinstance(test, Condition):
            words = test.words(self.view, row, value == "true")
            return Clause(test.text, value, test.origin, words, later)
        words = test.wording.explained(lambda name: self.view.pool.value(row, name), value)
        return Clause(test.wording.text, value, "requirements", words, later)


def _truth(test: Test, view: View) -> Truth:
    if isinstance(test, Condition):
        return np.broadcast_to(np.asarray(test.holds(view)), view.size).astype(np.int8)
    return test.truth(view)


def _codes(test: Test, view: View) -> list[Codes] | None:
    names = [test.name] if isinstance(test, Condition) else test.wording.names
    if any(not name or view.pool.count(name) is not None for name in names):
        return None
    columns = [view.pool.column(name) for name in names]
    return [column.codes(view.size) for column in columns if column is not None]
