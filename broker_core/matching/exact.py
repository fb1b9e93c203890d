"""Matching of one resource by the exact evaluator: the reference for what is done to whole columns."""

from __future__ import annotations

from broker_core.jdl.description import JobDescription
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import Value, as_expression, is_number
from broker_core.jdl.syntax.parse import parse_expression
from broker_core.jdl.syntax.tree import Ad, Expression, clauses_of
from broker_core.matching.columnar.by_value import JobSlots
from broker_core.matching.columnar.view import View
from broker_core.matching.conditions import conditions
from broker_core.matching.context import DEFAULT, Context
from broker_core.matching.own_requirements import ATTRIBUTE, seen_by_resources, turned_round
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
    return admits(resource, description, context) and all(
        truth(_value(node, description, resource, context)) is True for node in clauses_of(wanted)
    )


def admits(resource: Resource, description: JobDescription, context: Context = DEFAULT) -> bool:
    """True if the resource's own Requirements hold for the job, or it has none (CB-MM-01)."""
    here = values(resource)
    text = here.get(ATTRIBUTE)
    if not isinstance(text, str):
        return text is None or text is True
    node, _ = parse_expression(text)
    if node is None or turned_round(text) is None:
        return False
    own = as_expression(here)
    assert isinstance(own, Ad)
    seen = seen_by_resources(description)
    job = {key: evaluate(entry.value, seen, here, now=context.now) for key, entry in seen.entries.items()}
    return truth(evaluate(node, own, job, now=context.now, surroundings=context.surroundings)) is True


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
