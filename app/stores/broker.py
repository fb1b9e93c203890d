"""What a store needs of the window to ask its broker."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from app.stores.link import BrokerLink
    from app.stores.topics import TopicSignals
    from broker_core.client.client import BrokerClient


class BrokerAccess(Protocol):
    """One broker: how the connection stands, what it tells, and a client to ask it."""

    link: BrokerLink
    topics: TopicSignals

    @property
    def client(self) -> BrokerClient:
        """Its calls raise broker_core.errors.Unreachable while there is no broker."""
        ...

    def run(self, work: Coroutine[Any, Any, Any], doing: str) -> asyncio.Future[Any]:
        """Run a coroutine as a task of the window; an error becomes a notice that names `doing`."""
        ...
