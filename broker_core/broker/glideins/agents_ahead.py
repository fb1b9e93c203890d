"""Brings the agent of interactive jobs to sites with glideins before one asks for it (CB-GLI-02)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.errors import CrossDeskError
from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.glideins import glideins_of

log = logging.getLogger("crossdesk.glideins")


class AgentsAhead:
    """Tens of megabytes: over a slow connection the first interactive job in a slot would wait for them."""

    def __init__(self, sites: SiteDispatcher, agent: Callable[[], Awaitable[CachedProgram | None]]) -> None:
        """`agent`: what is brought; None: this broker has none."""
        self._sites, self._agent = sites, agent
        self._tasks: dict[str, asyncio.Task[bool]] = {}

    def bring(self, site: str) -> None:
        """Have it there; asked again, nothing is done unless it failed."""
        task = self._tasks.get(site)
        if task is None or (task.done() and not task.result()):
            self._tasks[site] = asyncio.get_running_loop().create_task(
                self._brought(site), name=f"agent for {site}"
            )

    async def close(self) -> None:
        """Bring nothing more."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _brought(self, site: str) -> bool:
        access = glideins_of(self._sites.sites.get(site))
        try:
            agent = await self._agent()
            if access is not None and agent is not None:
                await access.provide(agent)
        except CrossDeskError as error:
            log.info("The agent was not brought to %s: %s", site, error)
            return False
        except Exception:
            log.exception("The agent was not brought to %s", site)
        return True
