"""The updater of sites that run in the broker itself, such as this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.information.updater import INTERVAL, Answer
from broker_core.resources.facts import facts_of
from broker_core.resources.record import Resource

LOCAL = "local"
"""Name of the source that the broker itself is."""


class LocalUpdater:
    """Asks the broker's own sites; costs so little that it runs in the event loop."""

    kind = "local"
    address = ""

    def __init__(
        self, describe: Callable[[], Sequence[Resource]], name: str = LOCAL, interval: float = INTERVAL
    ) -> None:
        """`describe`: the sites' records as they are now."""
        self.name = name
        self.interval = interval
        self._describe = describe

    async def fetch(self) -> Answer:
        """The sites as they are now."""
        return Answer(tuple(facts_of(resource) for resource in self._describe()), checked=True, account=True)
