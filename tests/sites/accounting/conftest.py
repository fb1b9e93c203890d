"""Two real Slurm clusters with one accounting database, whose jobs get no more memory than they asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.leaks import lasting
from tests.sites.remote.far_site import Far, spec_for
from tests.testbed.slurm import LIMITING, LIMITING_CGROUP, Cluster, Slurm
from tests.testbed.slurm_accounting import Accounting


@pytest.fixture(scope="session")
def accounted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Clusters a and b of one node each."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("accounted") / "bed", names=("a", "b"), nodes=1, cpus=4)
        accounting = Accounting(bed.folder / "accounting", bed.munge)
    try:
        accounting.start()
        for name, cluster in bed.clusters.items():
            cluster.settings, cluster.cgroup = accounting.settings + LIMITING, LIMITING_CGROUP
            accounting.manage("add", "cluster", name)
        accounting.manage("add", "account", "phys")
        accounting.manage("add", "user", "root", "Account=phys", "DefaultAccount=phys")
        yield bed.start()
    finally:
        bed.close()
        accounting.close()


@pytest.fixture
def home(accounted: Slurm) -> Iterator[Cluster]:
    """The cluster of the login host, without jobs before and after."""
    yield accounted.clusters["a"]
    accounted.clusters["a"].end_jobs()


@pytest.fixture
def other(accounted: Slurm) -> Iterator[Cluster]:
    """The other cluster, likewise."""
    yield accounted.clusters["b"]
    accounted.clusters["b"].end_jobs()


@pytest.fixture
async def far(home: Cluster, tmp_path: Path) -> AsyncIterator[Far]:
    """A site at the first cluster whose jobs may have 40 MiB."""
    spec = spec_for(home, tmp_path / "site", options=["--mem=40"])
    site = await Far(spec, tmp_path / "here").start()
    yield site
    await site.site.close()
