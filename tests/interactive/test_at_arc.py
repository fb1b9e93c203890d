"""Interactive jobs at a real ARC computing element, where nothing leads back but the network itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach
from tests.interactive.far_jobs import add, known, restart, submitted, talked_to
from tests.packaging.agent_build import AgentFiles
from tests.running import RunningBroker
from tests.testbed.arc import ARex, running_arex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def arex() -> Iterator[ARex]:
    with running_arex() as site:
        yield site


@pytest.fixture
def spec(arex: ARex, tmp_path: Path) -> SiteSpec:
    proxy = arex.authority.proxy(arex.user, tmp_path / "proxy.pem")
    trust = str(arex.authority.directory)
    return SiteSpec(name="grid", kind="arc", url=arex.url, proxy=str(proxy), trust=trust, poll_interval=0.3)


@pytest.fixture
async def client(
    running_broker: RunningBroker, agent_files: AgentFiles, spec: SiteSpec
) -> AsyncIterator[BrokerClient]:
    restart(running_broker, agent_program=str(agent_files.agent))
    async with await connect(running_broker.state_dir, start=False) as made:
        await add(made, spec)
        yield made


async def test_a_console_at_a_computing_element_of_the_grid(client: BrokerClient, arex: ARex) -> None:
    await talked_to(client, await submitted(client, "grid"))
    assert not list(arex.folder.glob("session/*/job/.crossdesk*"))


async def test_an_agent_that_reaches_nobody_says_so_with_the_remedy(
    client: BrokerClient, running_broker: RunningBroker, agent_files: AgentFiles
) -> None:
    restart(running_broker, agent_program=str(agent_files.agent), relay="127.0.0.1:1")
    await known(client, "grid")
    job = await submitted(client, "grid")

    async def told() -> str:
        said = await client.session_contact(job)
        return said.reason if "reaches no place" in said.reason else ""

    reason = await eventually(told, 90)
    assert "127.0.0.1:1 does not answer" in reason

    async def in_the_story() -> bool:
        events = await client.events_of(job)
        return any(
            "reaches no place to meet" in one.reason for one in events if one.type == "job.agent_ready"
        )

    await eventually(in_the_story)
    await client.cancel([job])
    await reach(client, job, "Canceled")
