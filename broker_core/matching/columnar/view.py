"""One pool with the job's ad and the circumstances of a match, as compiled expressions look at it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from broker_core.jdl.evaluation.environment import NOWHERE, EvaluationEnvironment
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.syntax.tree import UNDEFINED, Ad, Expression
from broker_core.matching.columnar.arrays import Array
from broker_core.matching.columnar.value_table import Coded, ValueTable
from broker_core.resources.column import AttributeColumn
from broker_core.resources.pool import Pool
from broker_core.resources.values import ANSWERS, COUNTS

State = tuple[int, int]
"""Version of the columns, and the rows that are looked at."""


@dataclass(slots=True)
class View:
    """What an expression is evaluated over."""

    pool: Pool
    size: int
    own: Ad
    now: float | None = None
    surroundings: EvaluationEnvironment = NOWHERE

    @property
    def state(self) -> State:
        """What is worked out by the attributes alone is good for this state, and for no other."""
        return self.pool.columns.version, self.size

    def evaluate(self, expression: Expression, other: Mapping[str, Any]) -> Any:
        """The exact value at a resource with these values."""
        return evaluate(expression, self.own, other, now=self.now, surroundings=self.surroundings)

    def codes(self, column: AttributeColumn) -> Array:
        """Codes by row."""
        return column.codes(self.size)

    def quiet(self, name: str) -> Any:
        """What all that publish this attribute would say if they were idle; None: what they say now."""
        return ANSWERS.get(name) if self.pool.quiet else None


def for_each_value(
    view: View, expression: Expression, name: str, column: AttributeColumn, table: ValueTable
) -> Coded:
    """The exact value for each distinct value of one column, spread by its codes."""
    if table.generation != column.generation:
        table.restart(column.generation)
    done = len(table.values)
    if done < len(column.values):
        table.add(_values(view, expression, name, column.values[done:]))
    return Coded(table, view.codes(column))


def _values(view: View, expression: Expression, name: str, given: list[Any]) -> list[Any]:
    quiet = view.quiet(name)
    if quiet is None:
        return [view.evaluate(expression, _other(name, value)) for value in given]
    answer = view.evaluate(expression, {name: quiet})
    return [answer if value is not UNDEFINED else view.evaluate(expression, {}) for value in given]


def _other(name: str, value: Any) -> dict[str, Any]:
    return {} if value is UNDEFINED else {name: value}


def for_each_combination(view: View, expression: Expression, names: Iterable[str]) -> Coded:
    """The exact value for each combination of values that occurs."""
    keys: Array | None = None
    first = np.zeros(1, np.intp)
    read = list(names)
    for column in _inputs(view, read):
        _, codes = np.unique(column, return_inverse=True)
        mixed = codes if keys is None else keys * (int(codes.max(initial=0)) + 1) + codes
        _, first, keys = np.unique(mixed, return_index=True, return_inverse=True)
    rows = first.tolist() if view.size else []
    values = [view.evaluate(expression, _at(view, row, read)) for row in rows]
    return Coded(ValueTable(values), keys)


def for_each_row(view: View, expression: Expression, names: Iterable[str] | None) -> Coded:
    """The exact value of each row, whether or not other rows are alike; of all attributes without names."""
    read = None if names is None else list(names)
    values = []
    for row in range(view.size):
        here = view.pool.values(row) if read is None else _at(view, row, read)
        values.append(view.evaluate(expression, here))
    return Coded(ValueTable(values), np.arange(view.size))


def _inputs(view: View, names: Iterable[str]) -> Iterable[Array]:
    for name in names:
        count = view.pool.count(name)
        if count is not None:
            yield count[: view.size]
        if name not in COUNTS and (column := view.pool.column(name)) is not None:
            yield view.codes(column)


def _at(view: View, row: int, names: Iterable[str]) -> dict[str, Any]:
    found = {name: view.pool.value(row, name) for name in names}
    return {name: value for name, value in found.items() if value is not UNDEFINED}
