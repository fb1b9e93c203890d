"""Waiting for what sites become."""

from __future__ import annotations

from broker_core.client.client import BrokerClient
from broker_core.wire.sites import SiteView
from tests.waiting import eventually


async def view(client: BrokerClient, name: str) -> SiteView:
    """One site as it is shown."""
    return next(one for one in await client.sites() if one.name == name)


async def link(client: BrokerClient, name: str, *states: str) -> SiteView:
    """A site once its connection is in one of the states, asked to try again meanwhile."""

    async def there() -> SiteView | None:
        found = await view(client, name)
        if found.link.state in states:
            return found
        if found.link.state in ("retrying", "down"):
            await client.connect_site(name)
        return None

    found = await eventually(there, what=f"{name} is {' or '.join(states)}")
    assert isinstance(found, SiteView)
    return found


async def known(client: BrokerClient, name: str) -> SiteView:
    """A site once jobs can be sent to it."""

    async def there() -> SiteView | None:
        found = await view(client, name)
        return found if found.link.state == "connected" and found.ces else None

    found = await eventually(there, what=f"{name} is known")
    assert isinstance(found, SiteView)
    return found
