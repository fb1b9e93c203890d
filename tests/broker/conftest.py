"""A client of the test's broker, and short ways to ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.system.paths import places


@pytest.fixture
async def client(broker: Path) -> AsyncIterator[BrokerClient]:
    """The product's client, that starts no broker by itself."""
    async with BrokerClient(BrokerTransport(broker)) as made:
        yield made


@pytest.fixture
async def http(broker: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Raw HTTP over the broker's socket, for what the client would never send."""
    carrier = httpx.AsyncHTTPTransport(uds=str(places(broker).socket))
    async with httpx.AsyncClient(transport=carrier, base_url="http://broker/v1", timeout=60) as made:
        yield made
