"""When jobs would start at chosen places, asked of their batch systems one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from broker_core.broker.engine.engine import Engine
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.errors import CrossDeskError
from broker_core.jdl.description import JobDescription
from broker_core.jobs.placement import Component, computing_element
from broker_core.scheduling.messages import StartForetold
from broker_core.sites.contract import LaunchOrder
from broker_core.wire.matches import StartForecast
from broker_core.wire.sites import SITE_KINDS

DEADLINE = 20.0
"""Seconds for all answers; a site that is silent for longer has given none."""


class StartForecasts:
    """Asks sites; the scheduler hears what they said, so that the story of the job tells how good it was."""

    def __init__(self, registry: SiteRegistry, engine: Engine) -> None:
        self._registry = registry
        self._engine = engine

    async def ask(self, description: JobDescription, ces: Sequence[str]) -> list[StartForecast]:
        """One answer for each computing element, in order; a site that cannot answer says why."""
        return list(await asyncio.gather(*(self._ask(description, ce) for ce in ces)))

    async def _ask(self, description: JobDescription, ce: str) -> StartForecast:
        element = computing_element(ce)
        spec = self._registry.specs.get(element.site)
        answer = StartForecast(ce=ce, source=SITE_KINDS[spec.kind] if spec is not None else "")
        order = LaunchOrder(
            attempt=Component("forecast", 1), cpus=description.cpus, executable="", arguments="",
            environment=(), stdin="", stdout="", stderr="", inputs=(), outputs=(),
            wall_limit=description.wall_limit, ce=element, request=description.request,
        )  # fmt: skip
        try:
            async with asyncio.timeout(DEADLINE):
                wait = await self._registry.forecast(order)
        except (CrossDeskError, TimeoutError) as error:
            trouble = str(error) or f"{element.site} did not answer within {DEADLINE:.0f} s."
            return answer.model_copy(update={"trouble": trouble})
        if wait is None:
            return answer
        self._engine.post(StartForetold(description.batch_needs, ce, wait))
        return answer.model_copy(update={"wait": wait})
