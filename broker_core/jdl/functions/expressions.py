"""Functions of expressions themselves: evaluated from text, in other ads, or shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import AdValue, Value, bounded
from broker_core.jdl.functions.function import Function, Late, eager, table
from broker_core.jdl.syntax.parse import parse_expression
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED, Expression, Reference, walk
from broker_core.jdl.syntax.write import expression as written

_CHARACTERS_A_STEP = 4
"""Reading a text costs as many steps as it has characters, divided by this."""


def _eval(evaluation: Any, arguments: Sequence[Late]) -> Value:
    value = arguments[0]()
    if not isinstance(value, str):
        return ERROR if value is UNDEFINED else value
    evaluation.steps -= len(value) // _CHARACTERS_A_STEP
    if evaluation.steps < 0:
        return ERROR
    tree, _ = parse_expression(value)
    return ERROR if tree is None else evaluation.value(tree, arguments[0].args[1])


def _named(argument: Late) -> Expression | None:
    """The expression behind a name; None if the argument is no bare name, or there is none."""
    node, frame = argument.args
    while frame is not None and isinstance(node, Reference) and node.scope is None:
        if (found := frame.ad.get(node.name)) is not None:
            return found  # type: ignore[no-any-return]
        frame = frame.outer
    return None


def _unparse(evaluation: Any, arguments: Sequence[Late]) -> Value:
    if not isinstance(arguments[0].args[0], Reference):
        return ERROR
    tree = _named(arguments[0])
    if tree is None:
        return ""
    text = written(tree)
    evaluation.steps -= len(text) // _CHARACTERS_A_STEP
    return bounded(text)


def _unresolved(evaluation: Any, arguments: Sequence[Late]) -> Value:
    if not isinstance(arguments[0].args[0], Reference):
        return ERROR
    tree, own = _named(arguments[0]), arguments[0].args[1].ad.entries
    nodes = list(walk(tree)) if tree is not None else []
    evaluation.steps -= len(nodes)
    bare = [one.name for one in nodes if isinstance(one, Reference) and one.scope is None]
    names = [name for name in dict.fromkeys(bare) if name.lower() not in own]
    if len(arguments) == 1:
        return bounded(",".join(names))
    wanted = arguments[1]()
    return wanted.lower() in [name.lower() for name in names] if isinstance(wanted, str) else ERROR


def _in_each(evaluation: Any, arguments: Sequence[Late]) -> list[Value] | Value:
    ads = arguments[1]()
    if not isinstance(ads, list):
        return UNDEFINED if ads is UNDEFINED else ERROR
    node, frame = arguments[0].args
    return [_within(evaluation, node, frame, one) for one in ads]


def _within(evaluation: Any, node: Expression, frame: Any, ad: Value) -> Value:
    if not isinstance(ad, AdValue):
        return ad if ad is UNDEFINED else ERROR
    return evaluation.value(node, type(frame)(ad.ad, frame))


def _count(evaluation: Any, arguments: Sequence[Late]) -> Value:
    found = _in_each(evaluation, arguments)
    if found is UNDEFINED:
        return 0
    return sum(truth(one) is True for one in found) if isinstance(found, list) else found


TABLE = table(
    Function("eval", "eval(text)", "The value of an expression that is given as text.", 1, 1, _eval),
    Function("unparse", "unparse(name)", "The expression behind a name, as text.", 1, 1, _unparse),
    Function(
        "unresolved",
        "unresolved(name, wanted)",
        "The names that the expression behind a name reads from elsewhere; or whether wanted is among them.",
        1,
        2,
        _unresolved,
    ),
    Function(
        "evalInEachContext", "evalInEachContext(x, ads)", "The value of x in each of the ads.", 2, 2, _in_each
    ),
    Function("countMatches", "countMatches(x, ads)", "In how many of the ads x is true.", 2, 2, _count),
    eager("debug(x)", "x itself.", 1, 1, lambda v: v[0]),
)
