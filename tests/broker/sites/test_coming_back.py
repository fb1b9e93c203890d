"""Sites that are away come back together: with another one of their host, its key, or the network."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from broker_core.broker.site_management.network_monitor import NetworkMonitor
from broker_core.client.client import BrokerClient
from broker_core.wire.sites import QuestionAnswer, SiteSpec
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import known, view
from tests.testbed.slurm import Cluster
from tests.testbed.sshd import Sshd
from tests.waiting import eventually

TWIN = "twin"


@pytest.fixture
async def twins(client: BrokerClient, spec: SiteSpec, trusting: Path, cluster: Cluster) -> BrokerClient:
    """A client of a broker that knows the host as two sites."""
    await client.add_site(spec)
    await client.add_site(spec.model_copy(update={"name": TWIN}))
    await known(client, NAME)
    await known(client, TWIN)
    return client


async def both(client: BrokerClient, *states: str) -> None:
    async def there() -> bool:
        return {(await view(client, name)).link.state for name in (NAME, TWIN)} <= set(states)

    await eventually(there, what=f"both sites are {' or '.join(states)}")


async def test_a_host_that_is_back_wakes_all_its_sites(twins: BrokerClient, sshd: Sshd) -> None:
    sshd.kill()

    async def far_away() -> bool:
        tries = [(await view(twins, name)).link.retry_at for name in (NAME, TWIN)]
        return all(one is not None for one in tries)

    await eventually(far_away, what="both sites are waited for")
    await both(twins, "retrying", "down")
    sshd.start()
    await twins.connect_site(NAME)
    await both(twins, "connected")


async def test_a_changed_host_key_is_accepted_once_for_all_sites_of_the_host(
    twins: BrokerClient, sshd: Sshd
) -> None:
    sshd.kill()
    sshd.new_host_key()
    sshd.start()
    for name in (NAME, TWIN):
        await twins.connect_site(name)
    await both(twins, "needs credentials")
    question = (await view(twins, NAME)).link.question
    assert question is not None
    await twins.answer_site(NAME, QuestionAnswer(id=question.id, value=sshd.fingerprint))
    await both(twins, "connected")


@pytest.mark.root
async def test_a_new_address_of_this_machine_is_heard_of() -> None:
    heard = asyncio.Event()
    news = NetworkMonitor(heard.set)
    news.open()
    try:
        subprocess.run(["ip", "address", "add", "127.77.77.77/32", "dev", "lo"], check=True)
        await eventually(heard.is_set, what="the news are told")
    finally:
        subprocess.run(["ip", "address", "del", "127.77.77.77/32", "dev", "lo"], check=True)
        news.close()
