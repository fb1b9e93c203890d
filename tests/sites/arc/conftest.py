"""One real A-REX for all tests of this folder."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from broker_core.sites.arc.adapter import ArcAdapter
from broker_core.sites.link import Link
from broker_core.wire.sites import SiteSpec
from tests.testbed.arc import ARex, running_arex


@pytest.fixture(scope="session")
def arex() -> Iterator[ARex]:
    with running_arex() as site:
        yield site


@pytest.fixture
def proxy(arex: ARex, tmp_path: Path) -> Path:
    """A proxy of a user whom the site knows."""
    return arex.authority.proxy(arex.user, tmp_path / "proxy.pem")


@pytest.fixture
def spec(arex: ARex, proxy: Path) -> SiteSpec:
    """Settings of the site as they should be."""
    trust = str(arex.authority.directory)
    return SiteSpec(name="grid", kind="arc", url=arex.url, proxy=str(proxy), trust=trust)


Adapting = Callable[..., Awaitable[ArcAdapter]]


@pytest.fixture
async def adapting() -> AsyncIterator[Adapting]:
    """Makes adapters that have begun to connect, and closes them."""
    made: list[ArcAdapter] = []
    # A-REX lists for a while what another test had removed.
    own = f"mine{secrets.token_hex(4)}"

    async def make(
        spec: SiteSpec, mark: str = own, changed: Callable[[Link], None] = lambda _: None
    ) -> ArcAdapter:
        adapter = ArcAdapter(spec, mark, changed)
        made.append(adapter)
        await adapter.open()
        return adapter

    yield make
    for adapter in made:
        await adapter.close()
