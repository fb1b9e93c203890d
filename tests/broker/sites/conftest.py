"""One real cluster behind one real SSH server, and for each test a broker whose user may enter it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.wire.sites import SiteSpec
from tests.broker.sites.grid import NAMES, Grid, with_both
from tests.broker.sites.launching import launching_broker
from tests.broker.sites.watching import known
from tests.leaks import lasting
from tests.running import RunningBroker
from tests.testbed.mpi import installed
from tests.testbed.slurm import Cluster, Slurm
from tests.testbed.sshd import Sshd, own_home

NAME = "cluster"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("slurm") / "bed", nodes=1, cpus=8)
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()


@pytest.fixture
def cluster(slurm: Cluster) -> Iterator[Cluster]:
    """The same, without jobs before and after."""
    yield slurm
    slurm.end_jobs()


@pytest.fixture
def sshd(tmp_path: Path, slurm: Cluster) -> Iterator[Sshd]:
    """The way to it; what is written into the home directory there goes with the test."""
    server = Sshd(tmp_path / "sshd", environment=slurm.environment | own_home(tmp_path))
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
def home(isolated: Path, sshd: Sshd) -> Path:
    """The user's home: `~/.ssh/config` knows the cluster, but its host key is not known yet."""
    folder = isolated / "home" / ".ssh"
    folder.mkdir(mode=0o700)
    (folder / "config").write_text(sshd.alias(NAME))
    return folder.parent


@pytest.fixture
def trusting(home: Path, sshd: Sshd) -> Path:
    """The same home, with the host key known."""
    (home / ".ssh" / "known_hosts").write_text(sshd.known_hosts.read_text())
    return home


@pytest.fixture
def spec(tmp_path: Path) -> SiteSpec:
    """Settings by which the cluster can be added."""
    return SiteSpec(
        name=NAME,
        kind="slurm",
        host=NAME,
        directory=str(tmp_path / "there"),
        poll_interval=0.2,
        list_interval=0.2,
    )


@pytest.fixture
def broker(home: Path, running_broker: RunningBroker, state_dir: Path) -> Path:
    """A broker whose user has that home."""
    return state_dir


@pytest.fixture
async def client(broker: Path) -> AsyncIterator[BrokerClient]:
    """The product's client."""
    async with BrokerClient(BrokerTransport(broker, patience=10)) as made:
        yield made


@pytest.fixture
async def site(client: BrokerClient, spec: SiteSpec, trusting: Path, cluster: Cluster) -> BrokerClient:
    """A client of a broker that has the cluster."""
    await client.add_site(spec)
    await known(client, NAME)
    return client


@pytest.fixture(scope="session")
def slurms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Cluster]]:
    """Two clusters of four processors, on two nodes each: components of more than two lie on both."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("slurms") / "bed", NAMES, nodes=2, cpus=2)
    try:
        yield bed.start().clusters
    finally:
        bed.close()


@pytest.fixture
def clusters(slurms: dict[str, Cluster]) -> Iterator[dict[str, Cluster]]:
    """The same, without jobs before and after."""
    yield slurms
    for cluster in slurms.values():
        cluster.end_jobs()


@pytest.fixture
def hosts(tmp_path: Path, clusters: dict[str, Cluster], isolated: Path) -> Iterator[Path]:
    """The folder of the login hosts of both, known to the broker's user; MPICH is in their PATH. Each is also
    a host of four processors, if it is taken for one without a batch system."""
    more = {"PATH": f"{installed('mpich').prefix}/bin:/usr/bin:/bin", "CROSSDESK_SLOTS": "4"}
    servers = {
        name: Sshd(
            tmp_path / name, environment=cluster.environment | own_home(tmp_path / name) | more
        )
        for name, cluster in clusters.items()
    }
    ssh = isolated / "home" / ".ssh"
    ssh.mkdir(mode=0o700)
    try:
        for server in servers.values():
            server.start()
        (ssh / "config").write_text("".join(server.alias(name) for name, server in servers.items()))
        trusted = [server.known_hosts.read_text() for server in servers.values()]
        (ssh / "known_hosts").write_text("".join(trusted))
        yield tmp_path
    finally:
        for server in servers.values():
            server.close()


@pytest.fixture
def launching(state_dir: Path) -> Iterator[RunningBroker]:
    with launching_broker(state_dir, "127.0.0.1") as broker:
        yield broker


@pytest.fixture
async def grid(
    hosts: Path, launching: RunningBroker, clusters: dict[str, Cluster]
) -> AsyncIterator[Grid]:
    async with BrokerClient(BrokerTransport(launching.state_dir, patience=20)) as client:
        await with_both(client, hosts)
        yield Grid(client, launching, clusters, hosts)


@pytest.fixture
async def closed(
    hosts: Path, launching: RunningBroker, clusters: dict[str, Cluster]
) -> AsyncIterator[Grid]:
    """The same with nodes that nobody can call."""
    async with BrokerClient(BrokerTransport(launching.state_dir, patience=20)) as client:
        await with_both(client, hosts, reachable=False)
        yield Grid(client, launching, clusters, hosts)
