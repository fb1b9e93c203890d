"""List-match for a client: counts first, then a page, with turns for others in between (CB-CMD-03)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from broker_core.api.services import Services
from broker_core.clock import now
from broker_core.cooperative import in_turns
from broker_core.jdl.description import JobDescription
from broker_core.matching.match import Matches, match
from broker_core.matching.report import steps
from broker_core.policies.applied import applied
from broker_core.policies.policy import Policy
from broker_core.resources.pool import NO_ACCESS, Pool
from broker_core.submission.checking import LONG
from broker_core.submission.match_parts import SHOWN, DescriptionPart, many, parts_of, place_of, row, tell
from broker_core.wire.matches import MatchReport, MatchRequest

log = logging.getLogger("crossdesk.policies")
AT_ONCE = 100
"""Resources that are written as JSON between two turns of the event loop."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one question is answered from: the same for every part of a description."""

    services: Services
    question: MatchRequest
    name: str
    """Of the policy."""
    policy: Policy

    async def matches(self, description: JobDescription) -> Matches:
        """Where one job could run, in the order of the policy."""
        await self.services.near_files.asked([description])
        # From here to the match nobody else has a turn: resources may become known at any other moment.
        pool = _pool(self.services, self.question.assume_access)
        near = self.services.near_files.known(description, pool)
        context = self.services.circumstances.shown(self.question.site, near)
        if self.question.assume_access:
            context = replace(context, assume_abilities=True)
        found = applied(self.policy, self.name, match(description, pool, context=context))
        if found.policy_note:
            log.warning("%s", found.policy_note)
        await asyncio.sleep(0)
        return found


async def list_match(services: Services, description: JobDescription, question: MatchRequest) -> bytes:
    """Where a description could run now, and why not elsewhere, as a `MatchReport` in JSON; nothing is
    queued. A description that stands for many jobs is answered by its parts.

    Raises BadRequest for an unknown policy or part, and as submitting does."""
    name = question.policy or services.policies.order
    policy = services.policies.policy(question.policy)
    parts = await _parts(services, description, question.description)
    place = place_of(parts, question.part) if parts or question.part else 0
    asked = _Asked(services, question, name, policy)
    if not services.settings.cache:
        await services.updaters.refresh()
    found = await asked.matches(await _described(parts[place]) if parts else description)
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
    tell(report, parts, place)
    if not question.offset and not question.ces:
        chosen = parts[place] if parts else None
        for part in parts[:SHOWN]:
            its = found if part is chosen else await asked.matches(await _described(part))
            report.parts.append(row(part, its))
    return await _json(report)


async def _parts(services: Services, description: JobDescription, text: str) -> tuple[DescriptionPart, ...]:
    """The parts of a description, found in a thread: there may be thousands."""
    if not many(description):
        return ()
    return await asyncio.to_thread(parts_of, text, services.checker.limits)


async def _described(part: DescriptionPart) -> JobDescription:
    """The description of a part; a long text is checked in a thread."""
    if len(part.text) > LONG:
        return await asyncio.to_thread(lambda: part.description)
    return part.description


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


def _pool(services: Services, assume_access: bool) -> Pool:
    """The resources by which the scheduler decides; without a cache they were asked before (CB-CACHE-09)."""
    pool = services.engine.scheduler.pool(now().monotonic)
    if not services.settings.cache:
        pool = pool.without("stale")
    return (pool.without(NO_ACCESS.origin) if assume_access else pool).snapshot()
