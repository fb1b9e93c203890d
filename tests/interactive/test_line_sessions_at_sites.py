"""Lines that the broker carries to real sites: a plain host and a cluster's node, over SSH that is cut."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.interactive.shadow.session_events import SessionState
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach
from tests.interactive.far_jobs import add, attached, known, submitted
from tests.running import RunningBroker
from tests.testbed.slurm import Cluster
from tests.testbed.sshd import Sshd, own_home
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
SETTINGS = """
agent_program = "/nowhere/agent"
line_interval = 0.05
line_idle_interval = 0.3
"""
GOT = "echo ready; while read line; do echo got $line; done; echo over; exit 5"


@pytest.fixture
def sshd(tmp_path: Path, cluster: Cluster, isolated: Path) -> Iterator[Sshd]:
    """A server that the user trusts."""
    server = Sshd(tmp_path / "sshd", environment=cluster.environment | own_home(tmp_path)).start()
    folder = isolated / "home" / ".ssh"
    folder.mkdir(mode=0o700)
    (folder / "config").write_text(server.alias("hut"))
    (folder / "known_hosts").write_text(server.known_hosts.read_text())
    yield server
    server.close()


@pytest.fixture
def settings(state_dir: Path) -> Path:
    """The settings of the broker that is started next: it has no agent file."""
    state_dir.mkdir(mode=0o700)
    (state_dir / "broker.toml").write_text(SETTINGS)
    return state_dir / "broker.toml"


@pytest.fixture
async def client(settings: Path, sshd: Sshd, running_broker: RunningBroker) -> AsyncIterator[BrokerClient]:
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


def spec(tmp_path: Path, kind: str) -> SiteSpec:
    return SiteSpec(
        name="hut",
        kind=kind,
        host="hut",
        directory=str(tmp_path / "site"),
        poll_interval=0.1,
        list_interval=0.1,
    )


def text(script: str, more: str = "") -> str:
    return f'Executable = "/bin/sh"; Interactive = true; Arguments = "-c \'{script}\'"; {more}'


async def test_lines_at_a_plain_host_outlive_the_connection_and_the_broker_and_none_comes_twice(
    client: BrokerClient, running_broker: RunningBroker, sshd: Sshd, tmp_path: Path
) -> None:
    await add(client, spec(tmp_path, "shell"))
    job = await submitted(client, "hut", text(GOT))
    screen = await attached(client, job)
    session = screen.session
    assert session.status.mode == "lines"
    assert "agent_program in broker.toml names /nowhere/agent" in session.status.notice
    expected = b"ready\n"
    for number in range(30):
        session.write(b"%d\n" % number)
        expected += b"got %d\n" % number
        if number == 9:
            sshd.kill()
            await eventually(lambda: session.status.state is SessionState.BUFFERING, 60)
            sshd.start()
        elif number == 19:
            sshd.kill()
            running_broker.kill()
            running_broker.start()
            sshd.start()
    await eventually(lambda: len(screen.streams[1]) >= len(expected), 90)
    session.end_input()
    await screen.ended(60)
    assert bytes(screen.streams[1]) == expected + b"over\n"
    assert (session.status.state, session.status.exit_code) == (SessionState.CLOSED, 5)
    await session.close()
    assert (await reach(client, job, "Done"))["exit_code"] == 5
    await eventually(lambda: not list((tmp_path / "site").glob("*/attempts/*")), what="all of it is removed")


async def test_lines_on_a_node_of_a_cluster_with_a_flood_of_output_and_a_signal(
    client: BrokerClient, tmp_path: Path
) -> None:
    await add(client, spec(tmp_path, "slurm"))
    flood = "echo ready; read go; seq 1 300000; echo slurm=$SLURM_JOB_ID= >&2; cat; sleep 600"
    job = await submitted(client, "hut", text(flood))
    screen = await attached(client, job)
    session = screen.session
    session.write(b"go\n" + b"x" * 100_000 + b"\n")
    numbers = b"".join(b"%d\n" % number for number in range(1, 300_001))
    whole = b"ready\n" + numbers + b"x" * 100_000 + b"\n"
    await eventually(lambda: len(screen.streams[1]) >= len(whole), 60)
    assert bytes(screen.streams[1]) == whole
    await screen.shows(b"=\n", stream=2)
    assert bytes(screen.streams[2]).removeprefix(b"slurm=").partition(b"=")[0].isdigit()
    session.end_input()
    await eventually(lambda: session.status.unsent == 0)
    session.signal("TERM")
    await screen.ended(60)
    assert session.status.signal == 15
    await session.close()


async def test_where_carrying_lines_is_forbidden_the_job_is_refused_with_the_reason(
    client: BrokerClient, settings: Path, running_broker: RunningBroker, tmp_path: Path
) -> None:
    await add(client, spec(tmp_path, "shell"))
    named = await submitted(client, "hut", text(GOT, 'InteractiveAgent = "i2glogin";'))
    row = await reach(client, named, "Aborted")
    assert "/nowhere/agent" in row["reason"]
    running_broker.kill()
    settings.write_text(SETTINGS + "line_agent = false\n")
    running_broker.start()
    await known(client, "hut")
    row = await reach(client, await submitted(client, "hut", text(GOT)), "Aborted")
    assert "/nowhere/agent" in row["reason"]
