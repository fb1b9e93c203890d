"""The updater of sites that run in the broker itself, such as this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from broker_core.information.updater import INTERVAL, SourceAnswer
from broker_core.resources.facts import Facts

LOCAL = "local"
"""Name of the source that the broker itself is."""


class SiteUpdater:
    """Asks one of the sites that the broker itself sends jobs to."""

    def __init__(
        self,
        look: Callable[[], Awaitable[tuple[Facts, ...]]],
        name: str = LOCAL,
        interval: float = INTERVAL,
        kind: str = "local",
        address: str = "",
        renew: Callable[[], None] = lambda: None,
    ) -> None:
        """`look`: asks the site what it is like; `renew`: lets the next answer leave nothing out."""
        self.name = name
        self.interval = interval
        self.kind = kind
        self.address = address
        self._look = look
        self.renew = renew
        """See `Remembering.renew`."""

    async def fetch(self) -> SourceAnswer:
        """The site as it is now."""
        return SourceAnswer(await self._look(), checked=True, account=True)
