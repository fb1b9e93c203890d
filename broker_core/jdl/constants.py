"""Values that are known from the description alone."""

from __future__ import annotations

from broker_core.jdl.tree import Ad, Expression, Literal, Unary


def constant(node: Expression, ad: Ad) -> object:
    """The value of an expression that needs no resource; None if it does, or is a list or an ad."""
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Unary) and node.operator == "-" and isinstance(node.operand, Literal):
        value = node.operand.value
        return -value if isinstance(value, int | float) and not isinstance(value, bool) else None
    return None
