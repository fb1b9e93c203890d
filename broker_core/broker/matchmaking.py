"""Matchmaking as the scheduler and list-match both ask it: one function, one view of the resources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from broker_core.broker.clock import now
from broker_core.broker.services import Services
from broker_core.jdl.description import JobDescription
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.policies.ordering import ORDERINGS
from broker_core.resources.record import Resource
from broker_core.scheduling.demand import Demand
from broker_core.wire.matches import MatchReport


def matchmaker(policy: str) -> Callable[[Demand, Sequence[Resource]], Matches]:
    """Matchmaking for the scheduler, with candidates in the order of a policy (CB-SCH-03)."""
    ordering = ORDERINGS[policy]

    def match_demand(demand: Demand, resources: Sequence[Resource]) -> Matches:
        context = Context(site=demand.site)
        found = match(demand.description, resources, context=context)
        queue = context.queue_limit(demand.description.interactive)
        return replace(found, candidates=ordering(found.candidates, demand.description.cpus, queue))

    return match_demand


async def match_report(services: Services, description: JobDescription) -> MatchReport:
    """Where a description could run now, and why not elsewhere (CB-CMD-03)."""
    resources = services.engine.scheduler.resources(now().monotonic)
    return matchmaker(services.settings.policy)(Demand("", description), resources).report()
