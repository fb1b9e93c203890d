"""Why an expression has the value `error`: the innermost part that has it, and what is wrong there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_core.jdl.evaluation import operators
from broker_core.jdl.evaluation.regexp import COST_MAX, PATTERN_MAX, TEXT_MAX, compiled, cost
from broker_core.jdl.evaluation.values import Value
from broker_core.jdl.functions.known import FUNCTIONS
from broker_core.jdl.syntax.tree import (
    ERROR,
    Ad,
    Binary,
    Call,
    Conditional,
    Expression,
    ListOf,
    Reference,
    Subscript,
    Unary,
)

Valued = Callable[[Expression], Value]
"""Gives the value of a part of the expression."""
_DEEPEST = 40
_REGULAR = {"regexp": (0, 1), "regexps": (0, 1), "replace": (0, 1), "replaceall": (0, 1)}
"""Functions to the places of the pattern and of the text."""
_AROUND = {
    "random": "no chance is given where expressions are only tried out",
    "time": "no time is given here",
}


def reason(expression: Expression, own: Ad, valued: Valued) -> str:
    """Why the value of `expression` is `error`, as far as it is known; else empty."""
    node = expression
    for _ in range(_DEEPEST):
        inner = next((part for part in _parts(node, own) if valued(part) is ERROR), None)
        if inner is None:
            break
        node = inner
    if isinstance(node, Binary):
        return _operator(node, valued)
    if isinstance(node, Call):
        return _call(node, valued)
    if isinstance(node, Subscript):
        listed = isinstance(valued(node.base), list)
        return "there is no such item in the list" if listed else "only lists and ads have items"
    return ""


def _parts(node: Expression, own: Ad) -> Iterator[Expression]:
    if isinstance(node, Binary):
        yield from (node.left, node.right)
    elif isinstance(node, Unary):
        yield node.operand
    elif isinstance(node, Conditional):
        yield from (part for part in (node.test, node.yes, node.no) if part is not None)
    elif isinstance(node, Call):
        yield from node.arguments
    elif isinstance(node, Subscript):
        yield from (node.base, node.index)
    elif isinstance(node, ListOf):
        yield from node.items
    elif isinstance(node, Reference) and node.scope is None and node.name.lower() in own.entries:
        yield own.entries[node.name.lower()].value


def _operator(node: Binary, valued: Valued) -> str:
    left, right = valued(node.left), valued(node.right)
    if node.operator in ("/", "%") and type(right) in (int, float) and right == 0:
        return "a number is divided by zero"
    if node.operator in ("&&", "||"):
        bad = ERROR in (operators.truth(left), operators.truth(right))
    else:
        bad = operators.binary(node.operator, left, right) is ERROR
    return f"{node.operator} cannot be used with these values" if bad else ""


def _call(node: Call, valued: Valued) -> str:
    name = node.function.lower()
    function = FUNCTIONS.get(name)
    if function is None:
        return f"there is no function {node.function}"
    if not function.least <= len(node.arguments) <= function.most:
        return f"{function.name} is written {function.signature}"
    if name in _AROUND and not node.arguments:
        return _AROUND[name]
    if name in _REGULAR:
        return _regular(*(valued(node.arguments[place]) for place in _REGULAR[name]))
    return f"{function.name} cannot be used with these values; it is written {function.signature}"


def _regular(pattern: Value, text: Value) -> str:
    if not isinstance(pattern, str) or not isinstance(text, str):
        return "pattern and text must be strings"
    if len(pattern) > PATTERN_MAX or len(text) > TEXT_MAX:
        return f"a pattern may have {PATTERN_MAX:,} characters and a text {TEXT_MAX:,}"
    if compiled(pattern, "") is None:
        return "the pattern is no regular expression"
    if cost(pattern, text) is None:
        return (
            f"looking for the pattern could take more than {COST_MAX:,} steps, or without end; "
            "write it without repeats around repeats or choices"
        )
    return ""
