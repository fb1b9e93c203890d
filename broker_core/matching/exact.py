"""Matching of one resource by the exact evaluator: the reference for what is done to whole columns."""

from __future__ import annotations

from broker_core.jdl.description import JobDescription
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import Value, is_number
from broker_core.jdl.syntax.tree import Ad, Expression, clauses_of
from broker_core.matching.columnar.by_value import JobSlots
from broker_core.matching.columnar.view import View
from broker_core.matching.conditions import conditions
from broker_core.matching.context import DEFAULT, Context
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource
from broker_core.resources.values import values


def fits(description: JobDescription, resource: Resource, context: Context = DEFAULT) -> bool:
    """True if the resource meets every condition and every clause of Requirements.

    The steps that an expression may take are counted for each clause.
    """
    pool = Pool.of([resource])
    found = conditions(description, context, JobSlots(context.slots_tag))
    view = View(pool, 1, description.ad or Ad())
    if pool.barred or not all(bool(one.holds(view).all()) for one in found):
        return False
    wanted = description.ad.get("requirements") if description.ad is not None else None
    return all(truth(_value(node, description, resource, context)) is True for node in clauses_of(wanted))


def rank(description: JobDescription, resource: Resource, context: Context = DEFAULT) -> float | None:
    """The job's Rank at a resource; 0.0 without one, None where it is no number."""
    wanted = description.ad.get("rank") if description.ad is not None else None
    if wanted is None:
        return 0.0
    value = _value(wanted, description, resource, context)
    return float(value) if is_number(value) and value == value else None


def _value(node: Expression, description: JobDescription, resource: Resource, context: Context) -> Value:
    met = values(resource)
    return evaluate(node, description.ad, met, now=context.now, surroundings=context.surroundings)
