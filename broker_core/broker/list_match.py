"""List-match for a client: counts first, then a page, with turns for others in between (CB-CMD-03)."""

from __future__ import annotations

import logging

from broker_core.broker.clock import now
from broker_core.broker.services import Services
from broker_core.jdl.description import JobDescription
from broker_core.matching.match import match
from broker_core.matching.report import report
from broker_core.policies.applied import applied
from broker_core.resources.pool import NO_ACCESS, Pool
from broker_core.wire.matches import MatchReport, MatchRequest

log = logging.getLogger("crossdesk.policies")


async def list_match(services: Services, description: JobDescription, question: MatchRequest) -> MatchReport:
    """Where a description could run now, and why not elsewhere; nothing is queued."""
    name = question.policy or services.policies.order
    policy = services.policies.policy(question.policy)
    pool = await _pool(services, question.assume_access)
    context = services.circumstances.shown(question.site)
    found, problem = applied(policy, name, match(description, pool, context=context))
    if problem:
        log.warning("The policy %s failed, the built-in order counts: %s", name, problem)
    return report(
        found,
        offset=question.offset,
        limit=question.limit,
        only=question.only,
        text=question.text,
        ces=question.ces,
        explain=question.explain,
        policy=name,
    )


async def _pool(services: Services, assume_access: bool) -> Pool:
    """The resources by which the scheduler decides; without a cache they are asked first (CB-CACHE-09)."""
    if not services.settings.cache:
        await services.updaters.refresh()
    pool = services.engine.scheduler.pool(now().monotonic)
    if not services.settings.cache:
        pool = pool.without("stale")
    return pool.without(NO_ACCESS.origin) if assume_access else pool
