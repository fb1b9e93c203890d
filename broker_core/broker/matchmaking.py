"""Matchmaking as the scheduler and list-match both ask it: one function, one view of the resources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from broker_core.broker.clock import now
from broker_core.broker.services import Services
from broker_core.errors import BadRequest
from broker_core.jdl.description import JobDescription
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.matching.report import report
from broker_core.policies.ordering import ORDERINGS
from broker_core.resources.record import Resource
from broker_core.scheduling.demand import Demand
from broker_core.wire.matches import MatchReport, MatchRequest


def matchmaker(policy: Callable[[], str]) -> Callable[[Demand, Sequence[Resource]], Matches]:
    """Matchmaking for the scheduler, with candidates in the order of the policy in force (CB-SCH-03)."""

    def match_demand(demand: Demand, resources: Sequence[Resource]) -> Matches:
        context = Context(site=demand.site, now=now().wall)
        found = match(demand.description, resources, context=context)
        queue = context.queue_limit(demand.description.interactive)
        ordering = ORDERINGS[policy()]
        return replace(found, candidates=ordering(found.candidates, demand.description.cpus, queue))

    return match_demand


async def match_report(
    services: Services, description: JobDescription, question: MatchRequest
) -> MatchReport:
    """Where a description could run now, and why not elsewhere (CB-CMD-03)."""
    policy = question.policy or services.policies.order
    if policy not in ORDERINGS:
        raise BadRequest("There is no policy of this name.", place=policy)
    resources = services.engine.scheduler.resources(now().monotonic)
    found = matchmaker(lambda: policy)(Demand("", description, question.site), resources)
    return report(
        found,
        offset=question.offset,
        limit=question.limit,
        only=question.only,
        text=question.text,
        ces=question.ces,
        explain=question.explain,
        policy=policy,
    )
