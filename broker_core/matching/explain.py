"""Every condition at one resource, with its value and the reason in words."""

from __future__ import annotations

from broker_core.jdl.description import JobDescription
from broker_core.matching.clauses import Clause, explained, split
from broker_core.matching.conditions import conditions
from broker_core.matching.context import DEFAULT, Context
from broker_core.resources.record import Resource
from broker_core.resources.values import idle, values


def clauses(
    description: JobDescription, resource: Resource, context: Context = DEFAULT
) -> tuple[Clause, ...]:
    """Every condition and every clause of Requirements with its value at one resource."""
    met = values(resource)
    found = list(conditions(description, resource, met, context))
    if description.ad is not None:
        quiet = values(idle(resource))
        found += (
            explained(node, description.ad, met, quiet, context.now)
            for node in split(description.ad.get("requirements"))
        )
    return tuple(found)
