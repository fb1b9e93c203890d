"""How agents at other sites reach the broker's own relay, kept over restarts of the broker."""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from broker_core.interactive.channel.rendezvous import Endpoint
from broker_core.sites.contract import RemoteSitePort
from broker_core.sites.transport.contract import LinkLost
from broker_core.sites.transport.way_back import WayBack

log = logging.getLogger("crossdesk.sessions")


class ReverseTunnels:
    """Asks sites for the way, and remembers it: agents that run call there again."""

    def __init__(self, state: Path) -> None:
        self._file = state / "ways-back.json"

    async def of(self, site: RemoteSitePort, relay: Endpoint) -> WayBack:
        """The way from the nodes of a site, made again if need be.

        While the site is not heard from it is what it was; raises LinkLost where there was none.
        """
        before = self._ways().get(site.name)
        try:
            way = await site.way_back((relay.host, relay.port), before.ports if before else ())
        except LinkLost:
            if before is None:
                raise
            return before
        if way != before and way.ports:
            # Others may have been kept while this site was asked.
            self._keep(self._ways() | {site.name: way})
            log.info("Agents at %s call back over %s", site.name, way.ports)
        return way

    def _ways(self) -> dict[str, WayBack]:
        try:
            found = orjson.loads(self._file.read_bytes())
            return {str(name): _way(one) for name, one in found.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def _keep(self, ways: dict[str, WayBack]) -> None:
        fresh = self._file.with_suffix(".new")
        try:
            fresh.write_bytes(orjson.dumps({name: asdict(way) for name, way in ways.items()}))
            fresh.replace(self._file)
        except OSError as error:
            # Without it agents are lost only if the broker is started anew and the port is another one then.
            log.warning("The ways back from sites are not kept: %s", error)


def _way(said: dict[str, Any]) -> WayBack:
    places = tuple((str(host), int(port)) for host, port in said["places"])
    return WayBack(places, str(said["hint"]), tuple(map(int, said["ports"])))
