"""List-match for a client: counts first, then a page, with turns for others in between (CB-CMD-03)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from broker_core.broker.matchmaking.data_locality import DataLocality
from broker_core.broker.matchmaking.match_context import MatchContext
from broker_core.broker.matchmaking.policy_choice import ActivePolicies
from broker_core.broker.submission.checking import LONG
from broker_core.broker.submission.match_parts import (
    SHOWN,
    DescriptionPart,
    many,
    parts_of,
    place_of,
    row,
    tell,
)
from broker_core.information.runner import Updaters
from broker_core.jdl.check import Limits
from broker_core.jdl.description import JobDescription
from broker_core.matching.match import Matches, match
from broker_core.matching.report import steps
from broker_core.policies.applied import applied, by_ways
from broker_core.policies.policy import Policy
from broker_core.resources.pool import NO_ACCESS, Pool
from broker_core.scheduling.scheduler import Scheduler
from broker_core.system.clock import now
from broker_core.system.cooperative import in_turns
from broker_core.wire.matches import MatchReport, MatchRequest

log = logging.getLogger("crossdesk.policies")
AT_ONCE = 100
"""Resources that are written as JSON between two turns of the event loop."""


class KnownResources:
    """The resources by which the scheduler decides, as a question sees them."""

    def __init__(
        self, scheduler: Scheduler, updaters: Updaters, *, cache: bool, slots_first: bool = False
    ) -> None:
        """`cache`: what sources said counts until it is stale, else they are asked anew (CB-CACHE-09);
        `slots_first`: an interactive job starts in a virtual slot rather than on a free processor."""
        self._scheduler = scheduler
        self._updaters = updaters
        self._cache = cache
        self.slots_first = slots_first

    async def renewed(self) -> None:
        """Without a cache: ask the sources first."""
        if not self._cache:
            await self._updaters.refresh()

    def pool(self, description: JobDescription, *, assume_access: bool) -> Pool:
        """All that is known now, as a job sees it. `assume_access`: also what no account opens yet."""
        pool = self._scheduler.pool(now().monotonic)
        if not self._cache:
            pool = pool.without("stale")
        pool = (pool.without(NO_ACCESS.origin) if assume_access else pool).snapshot()
        return self._scheduler.seen_by(description, pool)


@dataclass(frozen=True, slots=True)
class _Order:
    """The order in which a question wants candidates."""

    name: str
    policy: Policy


class ListMatch:
    """Says where descriptions could run, by the function that the scheduler uses."""

    def __init__(
        self, known: KnownResources, data: DataLocality, context: MatchContext, policies: ActivePolicies
    ) -> None:
        self._known = known
        self._data = data
        self._context = context
        self._policies = policies

    async def _matches(self, description: JobDescription, question: MatchRequest, order: _Order) -> Matches:
        """Where one job could run, in the order of the policy."""
        await self._data.asked([description])
        # From here to the match nobody else has a turn: resources may become known at any other moment.
        pool = self._known.pool(description, assume_access=question.assume_access)
        near = self._data.known(description, pool)
        context = self._context.shown(question.site, near)
        if question.assume_access:
            context = replace(context, assume_abilities=True)
        found = applied(order.policy, order.name, match(description, pool, context=context))
        found = by_ways(found, self._known.slots_first)
        if found.notes:
            log.warning("%s", found.notes)
        await asyncio.sleep(0)
        return found

    async def report(self, description: JobDescription, question: MatchRequest, limits: Limits) -> bytes:
        """Where a description could run now, and why not elsewhere, as a `MatchReport` in JSON; nothing is
        queued. A description that stands for many jobs is answered by its parts.

        Raises BadRequest for an unknown policy or part, and as submitting does."""
        name = question.policy or self._policies.order
        order = _Order(name, self._policies.policy(question.policy))
        parts = await _parts(description, question.description, limits)
        index = place_of(parts, question.part) if parts or question.part else 0
        await self._known.renewed()
        first = await _described(parts[index]) if parts else description
        found = await self._matches(first, question, order)
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
        tell(report, parts, index)
        if not question.offset and not question.ces:
            chosen = parts[index] if parts else None
            for part in parts[:SHOWN]:
                its = (
                    found if part is chosen else await self._matches(await _described(part), question, order)
                )
                report.parts.append(row(part, its))
        return await _json(report)


async def _parts(description: JobDescription, text: str, limits: Limits) -> tuple[DescriptionPart, ...]:
    """The parts of a description, found in a thread: there may be thousands."""
    if not many(description):
        return ()
    return await asyncio.to_thread(parts_of, text, limits)


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
