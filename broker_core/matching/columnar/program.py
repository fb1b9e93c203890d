"""Expressions compiled to operations over whole columns; the exact evaluator decides what it means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from broker_core.jdl.syntax.tree import Expression
from broker_core.matching.columnar import arrays
from broker_core.matching.columnar.arrays import Numbers, Truth
from broker_core.matching.columnar.value_table import Coded, ValueTable
from broker_core.matching.columnar.view import View, for_each_combination, for_each_row, for_each_value

Ranks = npt.NDArray[np.float64]
_COUNT_MAX = 2.0**40
"""Counts of CPUs and jobs stay below."""


class ColumnProgram(Protocol):
    """A compiled expression; results have a value for each row, or a single one for all."""

    def truth(self, view: View) -> Truth:
        """As a condition."""
        ...

    def numbers(self, view: View) -> Numbers | None:
        """As numbers; None where some are none."""
        ...

    def ranks(self, view: View) -> Ranks:
        """As a rank: real numbers, nan where there is none."""
        ...


@dataclass(slots=True)
class Exact:
    """Evaluated by the exact evaluator, once for each distinct input."""

    expression: Expression
    names: list[str]
    """The resource's attributes it reads, those that some resource has."""
    column: str
    """The only one, if it is a column and no count."""
    kept: bool = True
    """Its values stay the same as long as the attributes do."""
    by_row: bool = False
    everything: bool = False
    table: ValueTable = field(default_factory=lambda: ValueTable([]))

    def result(self, view: View) -> Coded:
        """By row."""
        if self.by_row:
            return for_each_row(view, self.expression, None if self.everything else self.names)
        if not self.names:
            return self._constant(view)
        if not self.column:
            return for_each_combination(view, self.expression, self.names)
        column = view.pool.column(self.column)
        assert column is not None
        table = self.table if self.kept and view.quiet(self.column) is None else ValueTable([])
        return for_each_value(view, self.expression, self.column, column, table)

    def _constant(self, view: View) -> Coded:
        if not self.kept:
            return Coded(ValueTable([view.evaluate(self.expression, {})]), None)
        if not self.table.values:
            self.table.add([view.evaluate(self.expression, {})])
        return Coded(self.table, None)

    def truth(self, view: View) -> Truth:
        """As a condition."""
        return self.result(view).truth()

    def numbers(self, view: View) -> Numbers | None:
        """As numbers."""
        return self.result(view).numbers()

    def ranks(self, view: View) -> Ranks:
        """As a rank."""
        return self.result(view).ranks()


@dataclass(slots=True)
class Count:
    """A count of CPUs or jobs, read from the pool."""

    name: str

    def numbers(self, view: View) -> Numbers:
        """As numbers."""
        count = view.pool.count(self.name)
        assert count is not None
        return Numbers(count[: view.size], None, False, _COUNT_MAX)

    def truth(self, view: View) -> Truth:
        """As a condition."""
        return arrays.condition(self.numbers(view))

    def ranks(self, view: View) -> Ranks:
        """As a rank."""
        return self.numbers(view).values.astype(np.float64)


class OfNumbers(ABC):
    """What gives numbers if its parts do; else the exact evaluator has the answer."""

    __slots__ = ("exact",)

    def __init__(self, exact: Exact) -> None:
        self.exact = exact

    @abstractmethod
    def computed(self, view: View) -> Numbers | None:
        """The result from the numbers of the parts; None where that could differ from the exact one."""

    def numbers(self, view: View) -> Numbers | None:
        """As numbers."""
        found = self.computed(view)
        return found if found is not None else self.exact.numbers(view)

    def truth(self, view: View) -> Truth:
        """As a condition."""
        found = self.computed(view)
        return arrays.condition(found) if found is not None else self.exact.truth(view)

    def ranks(self, view: View) -> Ranks:
        """As a rank; truth values are none."""
        found = self.computed(view)
        if found is None or found.truth:
            return self.exact.ranks(view)
        values = found.values.astype(np.float64)
        return values if found.missing is None else np.where(found.missing == 0, values, np.nan)


class Arithmetic(OfNumbers):
    """`left + right` and its kin."""

    __slots__ = ("left", "right", "sign")

    def __init__(self, exact: Exact, sign: str, left: ColumnProgram, right: ColumnProgram) -> None:
        super().__init__(exact)
        self.sign, self.left, self.right = sign, left, right

    def computed(self, view: View) -> Numbers | None:
        """From the numbers of both sides."""
        left, right = self.left.numbers(view), self.right.numbers(view)
        return None if left is None or right is None else arrays.computed(self.sign, left, right)


class Minus(OfNumbers):
    """`-operand`."""

    __slots__ = ("operand",)

    def __init__(self, exact: Exact, operand: ColumnProgram) -> None:
        super().__init__(exact)
        self.operand = operand

    def computed(self, view: View) -> Numbers | None:
        """From the numbers of the operand."""
        found = self.operand.numbers(view)
        return None if found is None else arrays.minus(found)


class ConditionalOperation(OfNumbers):
    """`test ? yes : no`."""

    __slots__ = ("no", "test", "yes")

    def __init__(self, exact: Exact, test: ColumnProgram, yes: ColumnProgram, no: ColumnProgram) -> None:
        super().__init__(exact)
        self.test, self.yes, self.no = test, yes, no

    def computed(self, view: View) -> Numbers | None:
        """From the numbers of both ways."""
        yes, no = self.yes.numbers(view), self.no.numbers(view)
        return None if yes is None or no is None else arrays.chosen(self.test.truth(view), yes, no)


class OfTruth(ABC):
    """What gives true, false, `undefined` or `error`; it is never a rank."""

    __slots__ = ()

    @abstractmethod
    def truth(self, view: View) -> Truth:
        """As a condition."""

    def numbers(self, view: View) -> Numbers | None:
        """As numbers: true counts as 1."""
        return arrays.of_truth(self.truth(view))

    def ranks(self, view: View) -> Ranks:
        """Nan: a truth value is no rank."""
        return np.asarray(np.nan)


class Comparison(OfTruth):
    """`left < right` and its kin."""

    __slots__ = ("exact", "left", "right", "sign")

    def __init__(self, exact: Exact, sign: str, left: ColumnProgram, right: ColumnProgram) -> None:
        self.exact, self.sign, self.left, self.right = exact, sign, left, right

    def truth(self, view: View) -> Truth:
        """From the numbers of both sides, or exactly."""
        left, right = self.left.numbers(view), self.right.numbers(view)
        found = None if left is None or right is None else arrays.compared(self.sign, left, right)
        return found if found is not None else self.exact.truth(view)


class Logic(OfTruth):
    """A chain of `&&`, or one of `||`."""

    __slots__ = ("operands", "sign")

    def __init__(self, sign: str, operands: Sequence[ColumnProgram]) -> None:
        self.sign, self.operands = sign, operands

    def truth(self, view: View) -> Truth:
        """From left to right."""
        combined = arrays.both if self.sign == "&&" else arrays.either
        held = self.operands[0].truth(view)
        for operand in self.operands[1:]:
            held = combined(held, operand.truth(view))
        return held


class Not(OfTruth):
    """`!operand`."""

    __slots__ = ("operand",)

    def __init__(self, operand: ColumnProgram) -> None:
        self.operand = operand

    def truth(self, view: View) -> Truth:
        """The other way round."""
        return arrays.negated(self.operand.truth(view))
