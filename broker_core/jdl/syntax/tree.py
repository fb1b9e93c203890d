"""The tree of a description: what was written, with places. Made by `parse`, read by all the rest.

Nodes compare equal when they mean the same, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum


class Missing(Enum):
    """The two values that are not values (CB-JDL-03)."""

    UNDEFINED = "undefined"
    ERROR = "error"


UNDEFINED = Missing.UNDEFINED
ERROR = Missing.ERROR
Scalar = bool | int | float | str | Missing


@dataclass(slots=True)
class Node:
    """A part of an expression; `start` and `end` are offsets in the text, in characters."""

    start: int = field(default=0, compare=False, kw_only=True)
    end: int = field(default=0, compare=False, kw_only=True)


@dataclass(slots=True)
class Literal(Node):
    """A number, string, truth value, `undefined` or `error`."""

    value: Scalar


@dataclass(slots=True)
class Reference(Node):
    """An attribute read by name: bare, absolute (`.Name`), or in a scope (`other.Name`)."""

    name: str
    scope: Expression | None = None
    absolute: bool = False
    quoted: bool = field(default=False, compare=False)
    """Written in single quotes."""


@dataclass(slots=True)
class Unary(Node):
    """One of - + ! ~ before an operand."""

    operator: str
    operand: Expression


@dataclass(slots=True)
class Binary(Node):
    """Two operands; `is` and `isnt` are kept as `=?=` and `=!=`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(slots=True)
class Conditional(Node):
    """`test ? yes : no`; without `yes` it is `test ?: no`."""

    test: Expression
    yes: Expression | None
    no: Expression


@dataclass(slots=True)
class Call(Node):
    """A function with its arguments."""

    function: str
    arguments: list[Expression]


@dataclass(slots=True)
class Subscript(Node):
    """`base[index]`."""

    base: Expression
    index: Expression


@dataclass(slots=True)
class ListOf(Node):
    """`{ a, b, c }`."""

    items: list[Expression]


@dataclass(slots=True)
class Entry:
    """One `name = value` of an ad."""

    name: str
    value: Expression
    start: int = field(default=0, compare=False)
    """Offset of the name."""
    name_end: int = field(default=0, compare=False)
    value_start: int = field(default=0, compare=False)
    """Where the value begins, with the parentheses around it."""
    value_end: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    """Behind the `;`, or behind the value where there is none."""


@dataclass(slots=True)
class Ad(Node):
    """`[ name = value; ... ]`: entries by lower-case name, in the order written (CB-JDL-01)."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def get(self, name: str) -> Expression | None:
        """The value of an attribute, whatever the case of its name."""
        entry = self.entries.get(name.lower())
        return entry.value if entry else None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())


Expression = Literal | Reference | Unary | Binary | Conditional | Call | Subscript | ListOf | Ad


def children(node: Expression) -> list[Expression]:
    """The parts that a node is directly made of, in the order written."""
    match node:
        case Literal():
            return []
        case Reference(scope=scope):
            return [scope] if scope else []
        case Unary(operand=operand):
            return [operand]
        case Binary(left=left, right=right):
            return [left, right]
        case Conditional(test=test, yes=yes, no=no):
            return [test, yes, no] if yes else [test, no]
        case Call(arguments=arguments):
            return arguments
        case Subscript(base=base, index=index):
            return [base, index]
        case ListOf(items=items):
            return items
        case Ad():
            return [entry.value for entry in node]


def walk(node: Expression) -> Iterator[Expression]:
    """The node and all below it, parents first; without recursion, however deep the tree."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(children(current)))


def clauses_of(node: Expression | None) -> list[Expression]:
    """The clauses of a condition: what stands between the `&&` at the top."""
    waiting = [node] if node is not None else []
    found: list[Expression] = []
    while waiting:
        current = waiting.pop()
        if isinstance(current, Binary) and current.operator == "&&":
            waiting += [current.right, current.left]
        else:
            found.append(current)
    return found
