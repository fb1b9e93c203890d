"""Values of an expression that only few different inputs can give, and which row has which."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import is_number
from broker_core.jdl.syntax import tree
from broker_core.matching.columnar.arrays import (
    ERROR,
    EXACT,
    FALSE,
    TRUE,
    UNDEFINED,
    WHOLE,
    Array,
    Numbers,
    Truth,
    of_truth,
)

_WORDS = {True: TRUE, False: FALSE, tree.UNDEFINED: UNDEFINED, tree.ERROR: ERROR}


class ValueTable:
    """The value for each code of a column, or for each combination; grows as the column does."""

    __slots__ = ("__weakref__", "_numbers", "_ranks", "_truth", "generation", "values")

    def __init__(self, values: list[Any], generation: int = 0) -> None:
        self.values = values
        self.generation = generation
        self._truth: Truth | None = None
        self._numbers: Numbers | bool = False
        self._ranks: npt.NDArray[np.float64] | None = None

    def restart(self, generation: int) -> None:
        """Forget all values: the codes of the column have another meaning now."""
        self.values, self.generation = [], generation
        self.add([])

    def add(self, values: list[Any]) -> None:
        """More values at the end."""
        self.values += values
        self._truth = self._ranks = None
        self._numbers = False

    @property
    def truth(self) -> Truth:
        """Each value as a condition."""
        if self._truth is None:
            self._truth = np.array([_WORDS[truth(value)] for value in self.values], np.int8)
        return self._truth

    @property
    def ranks(self) -> npt.NDArray[np.float64]:
        """Each value as a rank; nan where it is no number."""
        if self._ranks is None:
            found = [float(value) if is_number(value) else np.nan for value in self.values]
            self._ranks = np.array(found, np.float64)
        return self._ranks

    @property
    def numbers(self) -> Numbers | None:
        """The values as numbers; None where some are none."""
        if self._numbers is False:
            self._numbers = _as_numbers(self.values) or True
        return self._numbers if isinstance(self._numbers, Numbers) else None


class Coded:
    """A result by row: which value of a table each row has; all the only one without codes."""

    __slots__ = ("codes", "table")

    def __init__(self, table: ValueTable, codes: Array | None) -> None:
        self.table = table
        self.codes = codes

    def truth(self) -> Truth:
        """By row, as a condition."""
        return self.table.truth[0] if self.codes is None else self.table.truth[self.codes]

    def ranks(self) -> npt.NDArray[np.float64]:
        """By row, as a rank."""
        ranks = self.table.ranks
        return ranks[0] if self.codes is None else ranks[self.codes]

    def numbers(self) -> Numbers | None:
        """By row, as numbers."""
        found = self.table.numbers
        if found is None:
            return None
        at = 0 if self.codes is None else self.codes
        missing = None if found.missing is None else found.missing[at]
        values = np.asarray(found.values[at])
        return Numbers(values, missing, found.real, found.limit, found.truth, found.mixed)


def _as_numbers(values: list[Any]) -> Numbers | None:
    kinds = {type(value) for value in values if not isinstance(value, tree.Missing)}
    if kinds <= {bool} and kinds:
        return of_truth(np.array([_WORDS[value] for value in values], np.int8))
    if not kinds <= {int, float}:
        return None
    missing = np.array([_WORDS[one] if isinstance(one, tree.Missing) else 0 for one in values], np.int8)
    there = [0 if isinstance(one, tree.Missing) else one for one in values]
    limit = float(max((abs(one) for one in there if type(one) is int), default=0))
    real, mixed = float in kinds, len(kinds) > 1
    if limit >= (EXACT if real else WHOLE):
        return None
    kind = np.float64 if real else np.int64
    return Numbers(np.array(there, kind), missing if missing.any() else None, real, limit, mixed=mixed)
