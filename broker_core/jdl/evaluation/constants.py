"""Values that are known from the description alone."""

from __future__ import annotations

from broker_core.jdl.evaluation.evaluate import Evaluation, LimitReached
from broker_core.jdl.limits import CONSTANT_STEPS, Budget
from broker_core.jdl.syntax.tree import Ad, Binary, Call, Conditional, Expression, Literal, Missing, Unary


def constant(node: Expression, ad: Ad, budget: Budget | None = None) -> object:
    """The value of an expression that needs no resource; None if it does, or is a list, an ad or a name."""
    if isinstance(node, Literal):
        return node.value
    if not isinstance(node, Unary | Binary | Call | Conditional):
        return None
    left = CONSTANT_STEPS if budget is None else min(CONSTANT_STEPS, budget.steps)
    evaluation = Evaluation(ad, None, None, left)
    try:
        value: object = evaluation.value(node, evaluation.top)
    except LimitReached:
        value = None
    if budget is not None:
        budget.steps -= left - max(evaluation.steps, 0)
    return None if isinstance(value, Missing) else value
