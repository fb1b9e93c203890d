"""One MPI job over two hosts that reach nothing but the broker's machine."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, submit, upload
from tests.broker.sites.launching import launching_broker
from tests.broker.sites.watching import known
from tests.leaks import lasting
from tests.running import RunningBroker, processes_of
from tests.testbed.mpi import installed
from tests.testbed.namespaces import Namespaces
from tests.testbed.sshd import Sshd, own_home
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster]
NAMES = ("alps", "baltic")
SLOTS, RANKS = 2, 3
"""Processors of each host, and processes: more than one of them has."""
JOB = f"""
    JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = {RANKS}; Executable = "ranks";
    InputSandbox = {{"ranks"}}; StdOutput = "out"; StdError = "err"; Environment = {{"GIVEN=a value"}};
"""


@pytest.fixture(scope="module")
def network() -> Iterator[Namespaces]:
    with lasting():
        made = Namespaces(*NAMES)
    yield made
    made.close()


@pytest.fixture
def hosts(tmp_path: Path, network: Namespaces, isolated: Path) -> Iterator[dict[str, Sshd]]:
    """Known to the broker's user; MPICH is in their PATH."""
    path = {"PATH": f"{installed('mpich').prefix}/bin:/usr/bin:/bin", "CROSSDESK_SLOTS": str(SLOTS)}
    servers = {
        name: Sshd(
            tmp_path / name,
            environment=own_home(tmp_path / name) | path,
            address=network.address(name),
            prefix=network.enter(name),
        )
        for name in NAMES
    }
    ssh = isolated / "home" / ".ssh"
    ssh.mkdir(mode=0o700)
    try:
        for name, server in servers.items():
            network.hub_only(name, server.start().port)
        (ssh / "config").write_text("".join(server.alias(name) for name, server in servers.items()))
        trusted = [server.known_hosts.read_text() for server in servers.values()]
        (ssh / "known_hosts").write_text("".join(trusted))
        yield servers
    finally:
        for server in servers.values():
            server.close()


@pytest.fixture
def launching(state_dir: Path, network: Namespaces) -> Iterator[RunningBroker]:
    with launching_broker(state_dir, network.hub) as broker:
        yield broker


@pytest.fixture
async def client(
    hosts: dict[str, Sshd], launching: RunningBroker, tmp_path: Path
) -> AsyncIterator[BrokerClient]:
    async with BrokerClient(BrokerTransport(launching.state_dir, patience=20)) as made:
        for name in NAMES:
            spec = SiteSpec(
                name=name, kind="shell", host=name, directory=str(tmp_path / f"{name}-there"),
                poll_interval=0.2, list_interval=0.2,
            )  # fmt: skip
            await made.add_site(spec)
            await known(made, name)
        yield made


def _answers(network: Namespaces, name: str, host: str, port: int) -> bool:
    """True if a connection from the site to a place is taken."""
    words = [*network.enter(name), "bash", "-c", f": </dev/tcp/{host}/{port}"]
    try:
        return subprocess.run(words, capture_output=True, timeout=1, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


async def test_hosts_that_reach_only_the_broker_s_machine_are_one_world(
    client: BrokerClient, hosts: dict[str, Sshd], network: Namespaces, tmp_path: Path
) -> None:
    assert not _answers(network, "alps", network.address("baltic"), hosts["baltic"].port)
    file = await upload(client, installed("mpich").program.read_bytes(), "ranks", executable=True)
    job = (await submit(client, JOB, files=[file])).ids[0]
    row = await reach(client, job, "Done", "Aborted")
    story = [one.reason for one in await client.events_of(job)]
    assert (row["state"], row["exit_code"]) == ("Done", 0), story
    wanted = f"{RANKS} ranks of {RANKS} launchers, pi 3.141593, halo right, given a value\n"
    assert (await client.read_file(job, "component-1/out")).content.decode() == wanted
    for name in NAMES:
        await eventually(lambda name=name: not processes_of(tmp_path / f"{name}-there"))
