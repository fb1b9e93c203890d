"""The ways from sites back to the relay are remembered, also those of sites that answer at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from broker_core.interactive.channel.rendezvous import Endpoint
from broker_core.interactive.sessions.reverse_tunnels import ReverseTunnels
from broker_core.sites.contract import RemoteSitePort
from broker_core.sites.transport.contract import LinkLost
from broker_core.sites.transport.way_back import RelayPlace, WayBack

RELAY = Endpoint("127.0.0.1", 20000)


class SlowSite:
    """Stands in for a site that answers when the test lets it: a real one chooses its own time."""

    def __init__(self, name: str, port: int) -> None:
        self.name, self.answer, self.silent = name, asyncio.Event(), False
        self._way = WayBack((("gate", port),), ports=(port,))

    async def way_back(self, relay: RelayPlace, ports: Sequence[int]) -> WayBack:
        await self.answer.wait()
        if self.silent:
            raise LinkLost("cut")
        return self._way


async def test_sites_that_answer_at_the_same_time_are_both_remembered(tmp_path: Path) -> None:
    ways, sites = ReverseTunnels(tmp_path), [SlowSite("vega", 7001), SlowSite("lyra", 7002)]
    asked = [asyncio.ensure_future(ways.of(cast(RemoteSitePort, one), RELAY)) for one in sites]
    await asyncio.sleep(0)
    for one in sites:
        one.answer.set()
    told = await asyncio.gather(*asked)
    after = ReverseTunnels(tmp_path)
    for one in sites:
        one.silent = True
    assert [await after.of(cast(RemoteSitePort, one), RELAY) for one in sites] == told
