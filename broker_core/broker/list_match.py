"""List-match for a client: counts first, then a page, with turns for others in between (CB-CMD-03)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from broker_core.broker.clock import now
from broker_core.broker.services import Services
from broker_core.broker.turns import in_turns
from broker_core.jdl.description import JobDescription
from broker_core.matching.match import match
from broker_core.matching.report import steps
from broker_core.policies.applied import applied
from broker_core.resources.pool import NO_ACCESS, Pool
from broker_core.wire.matches import MatchReport, MatchRequest

log = logging.getLogger("crossdesk.policies")
AT_ONCE = 100
"""Resources that are written as JSON between two turns of the event loop."""


async def list_match(services: Services, description: JobDescription, question: MatchRequest) -> bytes:
    """Where a description could run now, and why not elsewhere, as a `MatchReport` in JSON; nothing is
    queued."""
    name = question.policy or services.policies.order
    policy = services.policies.policy(question.policy)
    pool = await _pool(services, question.assume_access)
    near = await services.near_files.found(description, pool)
    context = services.circumstances.shown(question.site, near)
    if question.assume_access:
        context = replace(context, assume_abilities=True)
    found, problem = applied(policy, name, match(description, pool, context=context))
    if problem:
        log.warning("The policy %s failed, the built-in order counts: %s", name, problem)
    await asyncio.sleep(0)
    report = await in_turns(
        steps(
            found,
            offset=question.offset,
            limit=question.limit,
            only=question.only,
            text=question.text,
            fails=question.fails,
            ces=question.ces,
            explain=question.explain,
            policy=name,
        )
    )
    return await _json(report)


async def _json(report: MatchReport) -> bytes:
    """The report in JSON; the resources of a page are written in slices, as they are most of it."""
    resources = report.resources
    parts = []
    for start in range(0, len(resources), AT_ONCE):
        part = resources[start : start + AT_ONCE]
        parts.append(b",".join(one.model_dump_json().encode() for one in part))
        await asyncio.sleep(0)
    rest = report.model_dump_json(exclude={"resources"}).encode()
    return b'{"resources":[%b],%b' % (b",".join(parts), rest[1:])


async def _pool(services: Services, assume_access: bool) -> Pool:
    """The resources by which the scheduler decides; without a cache they are asked first (CB-CACHE-09)."""
    if not services.settings.cache:
        await services.updaters.refresh()
    pool = services.engine.scheduler.pool(now().monotonic)
    if not services.settings.cache:
        pool = pool.without("stale")
    return (pool.without(NO_ACCESS.origin) if assume_access else pool).snapshot()
