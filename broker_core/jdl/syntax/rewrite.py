"""A tree with some of its parts exchanged; places stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from broker_core.jdl.syntax.tree import (
    Ad,
    Binary,
    Call,
    Conditional,
    Expression,
    ListOf,
    Literal,
    Reference,
    Subscript,
    Unary,
)

Change = Callable[[Literal | Reference], Expression]
"""What stands in place of a literal or a reference: something else, or itself."""


def rewritten_ad(ad: Ad, change: Change) -> Ad:
    """The ad with every value rewritten."""
    entries = {key: replace(entry, value=rewritten(entry.value, change)) for key, entry in ad.entries.items()}
    return Ad(entries, start=ad.start, end=ad.end)


def rewritten(node: Expression, change: Change) -> Expression:
    """The expression with `change` applied to every literal and reference in it."""
    at = {"start": node.start, "end": node.end}
    match node:
        case Literal() | Reference():
            return change(node)
        case Unary():
            return Unary(node.operator, rewritten(node.operand, change), **at)
        case Binary():
            return _chain(node, change)
        case Conditional():
            yes = rewritten(node.yes, change) if node.yes else None
            return Conditional(rewritten(node.test, change), yes, rewritten(node.no, change), **at)
        case Call():
            return Call(node.function, [rewritten(item, change) for item in node.arguments], **at)
        case Subscript():
            return Subscript(rewritten(node.base, change), rewritten(node.index, change), **at)
        case ListOf():
            return ListOf([rewritten(item, change) for item in node.items], **at)
        case Ad():
            return rewritten_ad(node, change)


def _chain(node: Binary, change: Change) -> Expression:
    """A long chain such as `a && b && c` leans to the left; it is followed in a loop."""
    spine = []
    left: Expression = node
    while isinstance(left, Binary):
        spine.append(left)
        left = left.left
    result = rewritten(left, change)
    for one in reversed(spine):
        result = Binary(one.operator, result, rewritten(one.right, change), start=one.start, end=one.end)
    return result
