"""From expressions to programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from broker_core.jdl.syntax.tree import Ad, Binary, Call, Conditional, Expression, Reference, Unary
from broker_core.jdl.syntax.write import expression as written
from broker_core.matching.columnar.program import (
    Arithmetic,
    ColumnProgram,
    Comparison,
    ConditionalOperation,
    Count,
    Exact,
    Logic,
    Minus,
    Not,
)
from broker_core.matching.columnar.references import ReferencedAttributes, reads
from broker_core.matching.columnar.value_table import ValueTable
from broker_core.resources.columns import Columns
from broker_core.resources.values import ANSWERS, COUNTS, TOTALS

_LEVELS = 60
_COMPARE = frozenset({"==", "!=", "<", "<=", ">", ">="})
_COMPUTE = frozenset({"+", "-", "*", "/", "%"})
Tables = WeakValueDictionary[Any, ValueTable]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program, and what its result depends on."""

    program: ColumnProgram
    lasting: bool
    """It changes only with the attributes, not with counts, time or chance."""
    busy: bool
    """It can be another at the same resource when idle."""
    tables: tuple[ValueTable, ...]
    """What it keeps between matches."""


def compiled(expression: Expression, own: Ad, columns: Columns, tables: Tables) -> Compiled:
    """The program of an expression, good until a resource brings an attribute that none had before.

    `tables` are shared by all programs over these columns.
    """
    found = reads(expression, own)
    names = _varying(found, columns)
    counted = any(_is_count(name) for name in names)
    busy = counted or found.everything or any(name in ANSWERS for name in names)
    lasting = not counted and not found.worldly
    compiler = _Compiler(own, columns, tables)
    program = compiler.program(expression, 0)
    return Compiled(program, lasting, busy, tuple(compiler.kept))


def _is_count(name: str) -> bool:
    return name in COUNTS or name in TOTALS


def _varying(found: ReferencedAttributes, columns: Columns) -> list[str]:
    """Those of the attributes read that some resource has."""
    return sorted(name for name in found.names if _is_count(name) or columns.column(name) is not None)


@dataclass(slots=True)
class _Compiler:
    own: Ad
    columns: Columns
    tables: Tables
    kept: list[ValueTable] = field(default_factory=list)

    def program(self, node: Expression, level: int) -> ColumnProgram:
        found = reads(node, self.own)
        names = _varying(found, self.columns)
        alone = len(names) == 1 and not _is_count(names[0])
        exact = self._exact(node, found, names, names[0] if alone else "")
        if exact.by_row or found.whole or not names or alone or level > _LEVELS:
            return exact
        return self._taken_apart(node, exact, level + 1)

    def _exact(self, node: Expression, found: ReferencedAttributes, names: list[str], column: str) -> Exact:
        table = ValueTable([])
        if not found.worldly and (column or not names):
            own = tuple((name, written(value)) for name, value in sorted(found.own.items()))
            table = self.tables.setdefault((written(node), own, column), table)
            self.kept.append(table)
        by_row = found.by_chance or found.everything
        return Exact(node, names, column, not found.worldly, by_row, found.everything, table)

    def _taken_apart(self, node: Expression, exact: Exact, level: int) -> ColumnProgram:
        match node:
            case Binary(operator="&&" | "||" as sign):
                return Logic(sign, [self.program(one, level) for one in _chain(node)])
            case Binary(operator=sign, left=left, right=right) if sign in _COMPARE:
                return Comparison(exact, sign, self.program(left, level), self.program(right, level))
            case Binary(operator=sign, left=left, right=right) if sign in _COMPUTE:
                return Arithmetic(exact, sign, self.program(left, level), self.program(right, level))
            case Unary(operator="!", operand=operand):
                return Not(self.program(operand, level))
            case Unary(operator="-", operand=operand):
                return Minus(exact, self.program(operand, level))
            case Conditional(test=test, yes=yes, no=no) if yes is not None:
                return self._choice(exact, [test, yes, no], level)
            case Call(function=function, arguments=parts):
                if function.lower() == "ifthenelse" and len(parts) == 3:
                    return self._choice(exact, parts, level)
            case Reference():
                return self._reference(node, exact, level)
        return exact

    def _choice(self, exact: Exact, parts: list[Expression], level: int) -> ColumnProgram:
        test, yes, no = (self.program(part, level) for part in parts)
        return ConditionalOperation(exact, test, yes, no)

    def _reference(self, node: Reference, exact: Exact, level: int) -> ColumnProgram:
        name = node.name.lower()
        if node.scope is None:
            entry = self.own.entries.get(name)
            return exact if entry is None else self.program(entry.value, level)
        if exact.names == [name] and (name in COUNTS or self.columns.column(name) is None):
            return Count(name)
        return exact


def _chain(node: Binary) -> list[Expression]:
    """The operands of a chain of one operator, however long, from left to right."""
    operands: list[Expression] = []
    current: Expression = node
    while isinstance(current, Binary) and current.operator == node.operator:
        operands.append(current.right)
        current = current.left
    return [current, *reversed(operands)]
