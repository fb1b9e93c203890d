"""One MPI job over two real Slurm clusters: MPICH's processes of both are one MPI_COMM_WORLD."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.launching.launcher_folder import LauncherFolder
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, submit, upload
from tests.broker.sites.watching import known
from tests.leaks import lasting
from tests.running import RunningBroker, processes_of
from tests.testbed.mpi import installed
from tests.testbed.slurm import Cluster, Slurm
from tests.testbed.sshd import Sshd, own_home
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster]
NAMES = ("north", "south")
JOB = """
    JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 6; Executable = "ranks";
    Arguments = "{words}"; InputSandbox = {{"ranks"}}; StdOutput = "out"; StdError = "err";
    Environment = {{"GIVEN=a value", "FI_TCP_IFACE=lo"}};
"""


@pytest.fixture(scope="module")
def slurms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Cluster]]:
    """Two clusters of four processors."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("slurms") / "bed", NAMES, nodes=1, cpus=4)
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
    """The folder of the login hosts of both, known to the broker's user; MPICH is in their PATH."""
    path = f"{installed('mpich').prefix}/bin:/usr/bin:/bin"
    servers = {
        name: Sshd(
            tmp_path / name, environment=cluster.environment | own_home(tmp_path / name) | {"PATH": path}
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


@dataclass
class Grid:
    """A broker that has both clusters, and what is there."""

    client: BrokerClient
    broker: RunningBroker
    clusters: dict[str, Cluster]
    folder: Path

    async def submit(self, words: str = "") -> str:
        """The program that checks its ranks; returns the job."""
        file = await upload(self.client, installed("mpich").program.read_bytes(), "ranks", executable=True)
        return (await submit(self.client, JOB.format(words=words), files=[file])).ids[0]

    async def story(self, job: str) -> list[str]:
        return [one.reason for one in await self.client.events_of(job)]

    async def output(self, job: str, name: str) -> str:
        return (await self.client.read_file(job, name)).content.decode()

    def launcher(self, job: str, attempt: int = 1) -> LauncherFolder:
        return LauncherFolder(self.broker.state_dir / "launchers" / f"{job}.{attempt}")

    def there(self) -> list[str]:
        """Jobs of the batch systems."""
        return [name for cluster in self.clusters.values() for name in cluster.present().values()]

    async def nothing_is_left(self) -> None:
        await eventually(lambda: not self.there(), what="no component is left in a batch system")
        for name in NAMES:
            await eventually(lambda name=name: not processes_of(self.folder / f"{name}-there"))
        root = self.broker.state_dir / "launchers"
        await eventually(lambda: not list(root.iterdir()), what="no launcher is left")
        await eventually(lambda: not processes_of(root))


@pytest.fixture
async def grid(hosts: Path, state_dir: Path, clusters: dict[str, Cluster]) -> AsyncIterator[Grid]:
    state_dir.mkdir(mode=0o700)
    mpiexec = installed("mpich").prefix / "bin/mpiexec"
    lines = f'mpiexec = "{mpiexec}"\nlauncher_address = "127.0.0.1"\ncpus = 1\n'
    (state_dir / "broker.toml").write_text(lines)
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        async with BrokerClient(BrokerTransport(state_dir, patience=20)) as client:
            for name in NAMES:
                spec = SiteSpec(
                    name=name, kind="slurm", host=name, directory=str(hosts / f"{name}-there"),
                    poll_interval=0.2, list_interval=0.2, reachable=True,
                )  # fmt: skip
                await client.add_site(spec)
                await known(client, name)
            yield Grid(client, broker, clusters, hosts)
    finally:
        broker.close()


async def test_a_job_that_fits_on_neither_site_runs_over_both_as_one(grid: Grid) -> None:
    job = await grid.submit()
    row = await reach(grid.client, job, "Done", "Aborted")
    story = await grid.story(job)
    assert (row["state"], row["exit_code"]) == ("Done", 0), story
    assert "1 of 2 components reached MPI_Init" in story
    assert "All 2 components reached MPI_Init, and the barrier was released" in story
    listed = {one.path: one.role for one in await grid.client.files(job)}
    assert {"out", "component-1/out"} <= listed.keys(), listed
    assert await grid.output(job, "out") == ""
    wanted = "6 ranks of 6 launchers, pi 3.141593, halo right, given a value\n"
    assert await grid.output(job, "component-1/out") == wanted
    await grid.nothing_is_left()


async def running(grid: Grid, gate: Path) -> str:
    """A job that computes on both sites until the gate is opened."""
    job = await grid.submit(f"wait {gate}")
    await reach(grid.client, job, "Running")
    assert len(grid.there()) == 2
    return job


def ranks(grid: Grid, name: str) -> list[int]:
    """Processes of the program at a site."""
    found = []
    for pid in processes_of(grid.folder / f"{name}-there"):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if words.startswith(b"./ranks\0"):
            found.append(pid)
    return found


async def test_a_component_that_dies_while_all_compute_ends_the_others_and_the_job(
    grid: Grid, tmp_path: Path
) -> None:
    job = await running(grid, tmp_path / "gate")
    os.kill(ranks(grid, "south")[0], signal.SIGKILL)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert row["state"] == "Aborted", await grid.story(job)
    assert "it ended with exit code" in row["reason"]
    await grid.nothing_is_left()


async def gathering(grid: Grid) -> tuple[str, str]:
    """A job whose component in the north waits in MPI_Init, and the id of what the south is busy with."""
    busy = grid.clusters["south"]
    other = busy.run("sbatch", "--parsable", "-n4", "-o", "/dev/null", "--wrap", "sleep 600").strip()
    await eventually(lambda: "R" in busy.run("squeue", "-h", "-o", "%t"))
    job = await grid.submit()

    async def one() -> bool:
        return "1 of 2 components reached MPI_Init" in await grid.story(job)

    await eventually(one)
    return job, other


async def test_a_component_that_dies_before_the_barrier_is_tried_again_with_all_others(grid: Grid) -> None:
    job, other = await gathering(grid)
    os.kill(ranks(grid, "north")[0], signal.SIGKILL)

    async def retried() -> bool:
        return any(one.startswith("Once more on the same") for one in await grid.story(job))

    await eventually(retried)
    grid.clusters["south"].run("scancel", other)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert row["state"] == "Done", await grid.story(job)
    await grid.nothing_is_left()


@pytest.mark.parametrize("computes", [True, False], ids=["computing", "gathering"])
async def test_a_cancel_leaves_nothing_at_any_site(grid: Grid, tmp_path: Path, computes: bool) -> None:
    job = await running(grid, tmp_path / "gate") if computes else (await gathering(grid))[0]
    await grid.client.cancel([job])
    await reach(grid.client, job, "Canceled")
    for cluster in grid.clusters.values():
        cluster.run("scancel", "--name=wrap")
    await grid.nothing_is_left()


async def test_the_death_of_the_launcher_while_all_compute_ends_the_job(grid: Grid, tmp_path: Path) -> None:
    job = await running(grid, tmp_path / "gate")
    os.kill(grid.launcher(job).pid(), signal.SIGKILL)
    await reach(grid.client, job, "Aborted")
    await grid.nothing_is_left()


async def test_a_broker_that_is_killed_while_all_compute_finds_the_end(grid: Grid, tmp_path: Path) -> None:
    job = await running(grid, tmp_path / "gate")
    grid.broker.kill()
    grid.broker.start()
    await reach(grid.client, job, "Running")
    (tmp_path / "gate").touch()
    row = await reach(grid.client, job, "Done", "Aborted")
    assert row["state"] == "Done", await grid.story(job)
    await grid.nothing_is_left()


async def test_a_broker_that_is_killed_while_they_gather_adopts_the_launcher(grid: Grid) -> None:
    job, other = await gathering(grid)
    launcher = grid.launcher(job).pid()
    assert launcher
    grid.broker.kill()
    grid.broker.start()
    assert grid.launcher(job).pid() == launcher
    grid.clusters["south"].run("scancel", other)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert (row["state"], row["attempt"]) == ("Done", 1), await grid.story(job)
    await grid.nothing_is_left()
