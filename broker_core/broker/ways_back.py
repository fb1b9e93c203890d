"""How agents at other sites reach the broker's own relay, kept over restarts of the broker."""

from __future__ import annotations

import logging
from pathlib import Path

import orjson

from broker_core.interactive.meeting import Place
from broker_core.sites.contract import FarSite
from broker_core.sites.transport.way_back import WayBack

log = logging.getLogger("crossdesk.sessions")


class WaysBack:
    """Asks sites for the way, and remembers the ports there: agents that run call them again."""

    def __init__(self, state: Path) -> None:
        self._file = state / "ways-back.json"

    async def of(self, site: FarSite, relay: Place) -> WayBack:
        """The way from the nodes of a site, made again if need be; raises LinkLost."""
        ports = self._ports()
        before = ports.get(site.name, 0)
        way = await site.way_back((relay.host, relay.port), before)
        if way.port and way.port != before:
            self._keep(ports | {site.name: way.port})
            log.info("Agents at %s call back over its port %d", site.name, way.port)
        return way

    def _ports(self) -> dict[str, int]:
        try:
            found = orjson.loads(self._file.read_bytes())
            return {str(name): int(port) for name, port in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _keep(self, ports: dict[str, int]) -> None:
        fresh = self._file.with_suffix(".new")
        try:
            fresh.write_bytes(orjson.dumps(ports))
            fresh.replace(self._file)
        except OSError as error:
            # Without it agents are lost only if the broker is started anew and the port is another one then.
            log.warning("The ports of ways back are not kept: %s", error)
