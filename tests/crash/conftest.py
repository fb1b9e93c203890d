"""A broker that may be killed, with a folder for the side effects of its jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.crash.survivor import Survivor
from tests.leaks import lasting
from tests.testbed.guardian import Guardian
from tests.testbed.slurm import Slurm
from tests.testbed.sshd import Sshd, own_home


@pytest.fixture
def survivor(state_dir: Path, isolated: Path) -> Iterator[Survivor]:
    """No broker runs yet."""
    made = Survivor(state_dir, isolated / "effects")
    yield made
    made.close()


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Two clusters of one node each, a and b."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("slurm") / "bed", ("a", "b"), nodes=1, cpus=4)
    try:
        yield bed.start()
    finally:
        bed.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, clusters: Slurm) -> Iterator[Sshd]:
    """The way to cluster b and to a plain host; no test stops it."""
    sshd = Sshd(tmp_path_factory.mktemp("sshd") / "server", environment=clusters.clusters["b"].environment)
    try:
        yield sshd.start()
    finally:
        sshd.close()


@pytest.fixture
def trust(isolated: Path) -> Callable[[Sshd, str], None]:
    """Lets the user of the test enter a server under a name."""

    def write(sshd: Sshd, name: str) -> None:
        folder = isolated / "home" / ".ssh"
        folder.mkdir(mode=0o700, exist_ok=True)
        for file, text in (("config", sshd.alias(name)), ("known_hosts", sshd.known_hosts.read_text())):
            with (folder / file).open("a") as stream:
                stream.write(text)

    return write


@pytest.fixture
def beds(
    isolated: Path, clusters: Slurm, server: Sshd, trust: Callable[[Sshd, str], None]
) -> Iterator[list[Bed]]:
    """Three sites: a cluster on this machine, one behind SSH, and a host without a batch system."""
    guardian = Guardian(isolated)
    for name in ("beta", "host"):
        trust(server, name)
    a, b = clusters.clusters["a"], clusters.clusters["b"]
    for cluster in (a, b):
        cluster.require_ready()
    there = isolated / "there"
    yield [
        Bed(spec("alpha", "slurm", there, a.environment), a),
        Bed(spec("beta", "slurm", there, {}, "beta"), b),
        Bed(spec("host", "shell", there, own_home(there), "host")),
    ]
    for cluster in (a, b):
        cluster.end_jobs()
    guardian.close()


@pytest.fixture
def survivor_with_sites(state_dir: Path, isolated: Path, beds: list[Bed]) -> Iterator[SitesSurvivor]:
    """No broker runs yet, and none stays even if the test is killed."""
    made = SitesSurvivor(state_dir, isolated / "effects", beds)
    yield made
    made.close()
