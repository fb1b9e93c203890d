"""Two clusters of a broker that starts jobs over both, and what such a job leaves there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.launching.launcher_folder import LauncherFolder
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import submit, upload
from tests.broker.sites.watching import known
from tests.running import RunningBroker, processes_of
from tests.testbed.mpi import installed
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

NAMES = ("north", "south")
JOB = """
    JobType = "Parallel"; SubJobType = "{kind}"; NodeNumber = 6; Executable = "ranks";
    Arguments = "{words}"; InputSandbox = {{"ranks"}}; StdOutput = "out"; StdError = "err";
    Environment = {{"GIVEN=a value", "FI_TCP_IFACE=lo"}};
"""
WAITS = 'Executable = "/bin/sh"; Arguments = "-c \'while [ ! -e {gate} ]; do sleep 0.1; done\'";'
"""A job that ends once there is a file."""


def busy(cluster: Cluster, cpus: int) -> str:
    """Others have so many processors of a cluster, by this job."""
    return cluster.run("sbatch", "--parsable", f"-n{cpus}", "-o", "/dev/null", "--wrap", "sleep 600").strip()


def command_of(pid: int) -> bytes:
    """Empty of a process that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@dataclass
class Grid:
    """A broker that has both clusters, and what is there."""

    client: BrokerClient
    broker: RunningBroker
    clusters: dict[str, Cluster]
    folder: Path

    async def submit(self, words: str = "", kind: str = "mpich-g2", text: str = JOB) -> str:
        """The program that checks its ranks; returns the job."""
        file = await upload(self.client, installed("mpich").program.read_bytes(), "ranks", executable=True)
        # What carries packets does so for one node, and nodes have two processors.
        text = text if kind == "mpich-g2" else text.replace("NodeNumber = 6", "NodeNumber = 4")
        return (await submit(self.client, text.format(words=words, kind=kind), files=[file])).ids[0]

    async def story(self, job: str) -> list[str]:
        return [one.reason for one in await self.client.events_of(job)]

    async def output(self, job: str, name: str) -> str:
        return (await self.client.read_file(job, name)).content.decode()

    def launcher(self, job: str, attempt: int = 1) -> LauncherFolder:
        return LauncherFolder(self.broker.state_dir / "launchers" / f"{job}.{attempt}")

    def called(self, name: str, words: bytes) -> list[int]:
        """Processes at a site that were called with these words."""
        return [pid for pid in processes_of(self.folder / f"{name}-there") if words in command_of(pid)]

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


async def with_both(client: BrokerClient, hosts: Path, *, reachable: bool = True) -> None:
    """The broker has both clusters; `reachable`: their nodes can be called."""
    for name in NAMES:
        spec = SiteSpec(
            name=name, kind="slurm", host=name, directory=str(hosts / f"{name}-there"),
            poll_interval=0.2, list_interval=0.2, reachable=reachable,
        )  # fmt: skip
        await client.add_site(spec)
        await known(client, name)
