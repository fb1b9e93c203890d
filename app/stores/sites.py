"""The sites as the broker tells them: asked for when it says that they changed, held for every view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.stores.refresh import Reload
from app.stores.signals import SiteSignals
from broker_core.errors import CrossDeskError
from broker_core.jobs.placement import computing_element, ids_in

if TYPE_CHECKING:
    from app.stores.broker import BrokerAccess
    from broker_core.wire.sites import LinkView, SiteView


CONNECTED, CONNECTING, RETRYING = "connected", "connecting", "retrying"
ASKING, DOWN = "needs credentials", "down"
SILENT = frozenset({RETRYING, ASKING, DOWN})
"""States of a link in which nothing is heard of the jobs at the site."""


class SiteStore:
    """The sites of one broker. What was last heard stays while the broker is away."""

    def __init__(self, broker: BrokerAccess, signals: SiteSignals | None = None) -> None:
        self._broker, self._signals = broker, signals or SiteSignals()
        self.changed = self._signals.changed
        self.views: list[SiteView] = []
        self.loaded = False
        """True once the broker told them."""
        self.error = ""
        """Why they could not be read the last time; empty: they could."""
        self._silent: dict[str, float] = {}
        self.reload = Reload(broker, self._reload, "asking for the sites")
        """Ask the broker; while a question is on its way, ask once more afterwards."""
        # Queues and free CPUs of a site are told as resources.
        self.reload.follow((broker.topics.sites, broker.topics.resources), self.changed.emit)

    async def _reload(self) -> None:
        try:
            self.show_sites(await self._broker.client.sites())
        except CrossDeskError as error:
            self.show_error(error)

    def show_sites(self, views: list[SiteView]) -> None:
        """Take in the sites."""
        self.views, self.loaded, self.error = views, True, ""
        told = {one.spec.name: silent_since(one.link) for one in views}
        self._silent = {name: since for name, since in told.items() if since is not None}
        self.changed.emit()

    def show_error(self, error: CrossDeskError) -> None:
        """Say why they could not be read; what was known stays."""
        self.error = str(error)
        self.changed.emit()

    def named(self, name: str) -> SiteView | None:
        """The site of this name."""
        return next((one for one in self.views if one.spec.name == name), None)

    def at(self, ces: str | None) -> SiteView | None:
        """The site of the first of these computing elements (as in JobRecord.site)."""
        return self.named(site_of(ces or ""))

    def unheard(self, ces: str | None) -> float | None:
        """Since when the place of a job (JobRecord.site) is not heard from, seconds since the epoch; None:
        it is."""
        if not ces or not self._silent:
            return None
        since = [self._silent[name] for name in map(site_of, ids_in(ces)) if name in self._silent]
        return min(since) if since else None


def site_of(ce: str) -> str:
    """Return the name of the site that a computing element belongs to: what stands before the port."""
    return computing_element(ce).host


def silent_since(link: LinkView) -> float | None:
    """Return since when nothing is heard of a site (seconds since the epoch); None: all is well."""
    return (link.heard or link.since) if link.state in SILENT else None
