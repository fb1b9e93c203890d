"""Values that are known from the description alone."""

from __future__ import annotations

from broker_core.jdl.evaluate import evaluate
from broker_core.jdl.tree import Ad, Binary, Call, Conditional, Expression, Literal, Missing, Unary

STEPS = 1000
"""Nodes that a constant may cost."""


def constant(node: Expression, ad: Ad) -> object:
    """The value of an expression that needs no resource; None if it does, or is a list, an ad or a name."""
    if isinstance(node, Literal):
        return node.value
    if not isinstance(node, Unary | Binary | Call | Conditional):
        return None
    value: object = evaluate(node, ad, steps=STEPS)
    return None if isinstance(value, Missing) else value
