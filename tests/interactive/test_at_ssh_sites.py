"""Interactive jobs at sites over SSH: nodes that reach nothing but their login host call back over it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.wire.sites import SiteSpec
from broker_core.worker.agent_settings import CONTACT
from tests.broker.jobs import reach
from tests.interactive.far_jobs import TEXT, add, attached, restart, submitted, talked_to
from tests.packaging.agent_build import AgentFiles
from tests.running import RunningBroker
from tests.testbed.namespaces import Namespaces
from tests.testbed.slurm import Cluster
from tests.testbed.sshd import Sshd, own_home
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture
def sshd(tmp_path: Path, cluster: Cluster) -> Iterator[Sshd]:
    server = Sshd(tmp_path / "sshd", environment=cluster.environment | own_home(tmp_path))
    yield server
    server.close()


@pytest.fixture
def known(isolated: Path, sshd: Sshd) -> Path:
    """The user's `~/.ssh`, which trusts the server once it runs."""
    folder = isolated / "home" / ".ssh"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
async def client(
    running_broker: RunningBroker, agent_files: AgentFiles, known: Path
) -> AsyncIterator[BrokerClient]:
    restart(running_broker, agent_program=str(agent_files.agent))
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


def trust(known: Path, sshd: Sshd) -> None:
    (known / "config").write_text(sshd.alias("hut"))
    (known / "known_hosts").write_text(sshd.known_hosts.read_text())


def spec(tmp_path: Path, kind: str) -> SiteSpec:
    return SiteSpec(
        name="hut",
        kind=kind,
        host="hut",
        directory=str(tmp_path / "site"),
        poll_interval=0.1,
        list_interval=0.1,
    )


def cached(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "site").glob("*/programs/crossdesk-agent*"))


async def test_a_console_at_a_plain_host_whose_agent_is_fetched_once_and_looked_at_each_time(
    client: BrokerClient, running_broker: RunningBroker, sshd: Sshd, known: Path, tmp_path: Path
) -> None:
    trust(known, sshd.start())
    await add(client, spec(tmp_path, "shell"))
    await talked_to(client, await submitted(client, "hut"))
    (kept,) = cached(tmp_path)
    assert (running_broker.state_dir / "ways-back.json").exists()
    first = kept.stat().st_ino
    # What a kill leaves between an end and the removal goes with the next sweep, which is later.
    await eventually(lambda: not list((tmp_path / "site").glob("*/attempts/*")), what="the job is removed")
    running_broker.kill()
    running_broker.start()  # what comes before the site is connected again waits for it
    await talked_to(client, await submitted(client, "hut"))
    assert kept.stat().st_ino == first
    whole = hashlib.sha256(kept.read_bytes()).digest()
    kept.write_bytes(kept.read_bytes()[:100])
    await talked_to(client, await submitted(client, "hut"))
    assert hashlib.sha256(kept.read_bytes()).digest() == whole
    # Amid its removal a directory cannot be walked through.
    await eventually(lambda: not list((tmp_path / "site").glob("*/attempts/*")), what="the jobs are removed")
    left = [path.name for path in (tmp_path / "site").rglob(".crossdesk-*")]
    assert left == []


async def test_a_console_on_a_node_of_a_cluster_behind_ssh_outlives_the_broker_and_the_connection(
    client: BrokerClient, running_broker: RunningBroker, sshd: Sshd, known: Path, tmp_path: Path
) -> None:
    trust(known, sshd.start())
    await add(client, spec(tmp_path, "slurm"))
    job = await submitted(client, "hut")
    screen = await attached(client, job)
    running_broker.kill()
    sshd.kill()
    (contact,) = (tmp_path / "site").rglob(CONTACT)
    await eventually(lambda: "does not answer" in contact.read_text(), what="the agent tells its trouble")
    sshd.start()
    running_broker.start()
    screen.session.write(b"echo both came back\n")
    await screen.shows(b"\nboth came back", seconds=60)
    await screen.session.close()
    screen = await attached(client, job)
    screen.session.write(b"exit 5\n")
    await screen.ended()
    assert screen.session.status.exit_code == 5
    await screen.session.close()
    assert (await reach(client, job, "Done"))["exit_code"] == 5


async def test_a_console_outlives_the_broker_and_its_relay_and_the_story_tells_the_key_to_nobody_attached(
    client: BrokerClient, running_broker: RunningBroker, sshd: Sshd, known: Path, tmp_path: Path
) -> None:
    trust(known, sshd.start())
    await add(client, spec(tmp_path, "slurm"))
    job = await submitted(client, "hut")
    assert "The agent's key is SHA256:" in await eventually(partial(key_told, client, job), 60)
    screen = await attached(client, job)
    (contact,) = (tmp_path / "site").rglob(CONTACT)
    screen.session.write(b"until [ -e go ]; do sleep 0.1; done; echo while $((1+1)) were away\n")
    await screen.shows(b"away")
    running_broker.kill()
    relay = json.loads((running_broker.state_dir / "relay.json").read_bytes())["pid"]
    os.kill(relay, signal.SIGKILL)
    (contact.parent / "go").touch()
    await eventually(lambda: "does not answer" in contact.read_text(), what="the agent tells its trouble")
    running_broker.start()
    await screen.shows(b"while 2 were away", seconds=60)
    screen.session.write(b"echo $((6*7))\n")
    await screen.shows(b"\n42", seconds=60)
    await screen.session.close()
    again = await attached(client, job, b"while 2 were away")
    again.session.write(b"exit 5\n")
    await again.ended()
    await again.session.close()
    assert (await reach(client, job, "Done"))["exit_code"] == 5


async def key_told(client: BrokerClient, job: str) -> str:
    """What the story of a job says of its agent, once it does."""
    return next((one.reason for one in await client.events_of(job) if one.type == "job.agent_ready"), "")


async def test_a_host_that_may_call_nobody_is_reached_over_its_own_connection(
    client: BrokerClient, isolated: Path, known: Path, tmp_path: Path
) -> None:
    network = Namespaces("node")
    sshd = Sshd(
        tmp_path / "closed",
        address=network.address("node"),
        prefix=network.enter("node"),
        environment=own_home(tmp_path),
    )
    try:
        network.answers_only("node")
        trust(known, sshd.start())
        await add(client, spec(tmp_path, "shell"))
        await talked_to(client, await submitted(client, "hut"))
    finally:
        sshd.close()
        network.close()


async def test_the_broker_is_killed_while_the_agent_is_on_its_way_and_nothing_is_lost(
    client: BrokerClient, running_broker: RunningBroker, agent_files: AgentFiles, known: Path, tmp_path: Path
) -> None:
    network = Namespaces("node")
    sshd = Sshd(
        tmp_path / "slow",
        address=network.address("node"),
        prefix=network.enter("node"),
        environment=own_home(tmp_path),
    )
    try:
        trust(known, sshd.start())
        await add(client, spec(tmp_path, "shell"))
        network.rate_of_hub("10mbit")
        job = await submitted(client, "hut")
        whole = agent_files.agent.stat().st_size

        def parts() -> list[int]:
            """Bytes of each that is on its way; what has just arrived, or was given up, is none of them."""
            sizes = []
            for one in (tmp_path / "site").glob("*/incoming/k*/content"):
                with suppress(FileNotFoundError):
                    sizes.append(one.stat().st_size)
            return sizes

        await eventually(lambda: any(parts()), 60)
        running_broker.kill()
        assert all(size < whole for size in parts())
        await eventually(lambda: not cached(tmp_path) and not parts(), 60, "what was cut off is gone")
        network.rate_of_hub("1gbit")
        running_broker.start()
        await talked_to(client, job)
        assert [one.stat().st_size for one in cached(tmp_path)] == [whole]
    finally:
        sshd.close()
        network.close()


async def test_where_nothing_leads_back_the_job_says_so_with_the_remedy(
    client: BrokerClient, sshd: Sshd, known: Path, tmp_path: Path
) -> None:
    trust(known, sshd.start(more="AllowTcpForwarding no\n"))
    await add(client, spec(tmp_path, "shell"))
    job = await submitted(client, "hut", TEXT)

    async def told() -> str:
        said = await client.session_contact(job)
        return said.missing if said.agent == "plain" else ""

    missing = await eventually(told, 60)
    assert "AllowTcpForwarding" in missing
    assert "crossdesk-relay configure" in missing
    await client.cancel([job])
    await reach(client, job, "Canceled")
