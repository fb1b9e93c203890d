"""The agent that sites with glideins get before an interactive job asks for it; sites are stand-ins."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from broker_core.broker.glideins.agents_ahead import AgentsAhead
from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.transport.contract import LinkLost

_AGENT = CachedProgram("crossdesk-agent-x86_64-linux", Path("/nowhere"), "00")
FAULTS = [LinkLost("The connection is lost.", place="far"), None]


class StandInSlots:
    """A site that can have glideins, and notes what is brought."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault, self.brought, self.glideins = fault, list[CachedProgram](), self
        self.in_slot = lambda _: False

    def payloads_ended(self, *, last: bool) -> None:
        """See `GlideinSite.payloads_ended`."""

    async def provide(self, program: CachedProgram) -> None:
        """See `GlideinAccess.provide`."""
        self.brought.append(program)
        if self.fault is not None:
            raise self.fault


def _ahead(agent: CachedProgram | None = _AGENT, **sites: StandInSlots) -> AgentsAhead:
    async def found() -> CachedProgram | None:
        return agent

    return AgentsAhead(cast(Any, SimpleNamespace(sites=sites)), found)


async def _tasks_end() -> None:
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: type(one).__name__)
async def test_a_site_gets_the_agent_once_and_again_only_where_the_connection_was_lost(
    fault: Exception | None,
) -> None:
    far = StandInSlots(fault)
    ahead = _ahead(far=far)
    for _ in range(3):
        ahead.bring("far")
        await _tasks_end()
    assert far.brought == [_AGENT] * (3 if isinstance(fault, LinkLost) else 1)
    await ahead.close()


async def test_a_broker_without_an_agent_brings_nothing_and_none_goes_to_a_site_that_has_gone() -> None:
    far = StandInSlots()
    for ahead, site in ((_ahead(None, far=far), "far"), (_ahead(far=far), "gone")):
        ahead.bring(site)
        await _tasks_end()
        await ahead.close()
    assert far.brought == []
