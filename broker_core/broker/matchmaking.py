"""Matchmaking as the scheduler and list-match both ask it: one function, one view of the resources."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.broker.clock import now
from broker_core.broker.services import Services
from broker_core.jdl.description import JobDescription
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.resources.record import Resource
from broker_core.scheduling.demand import Demand
from broker_core.wire.checks import MatchReport


def match_demand(demand: Demand, resources: Sequence[Resource]) -> Matches:
    """Matchmaking for the scheduler."""
    return match(demand.description, resources, context=Context(site=demand.site))


async def match_report(services: Services, description: JobDescription) -> MatchReport:
    """Where a description could run now, and why not elsewhere (CB-CMD-03)."""
    resources = services.engine.scheduler.resources(now().monotonic)
    return match_demand(Demand("", description), resources).report()
