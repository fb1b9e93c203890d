"""A real Slurm that keeps accounts, and whose nodes have GPUs, features and licenses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.leaks import lasting
from tests.testbed.slurm import Cluster, Slurm
from tests.testbed.slurm_accounting import Accounting


@pytest.fixture(scope="session")
def equipped_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Nodes a1 (4 A100, `ib`), a2 (2 V100) and a3 (none); accounts phys and chem, of which root has phys."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("equipped") / "bed", nodes=3)
        accounting = Accounting(bed.folder / "accounting", bed.munge)
    cluster = bed.clusters["a"]
    cluster.equip(1, "a100", 4, "ib", "epyc")
    cluster.equip(2, "v100", 2)
    cluster.settings = f"{accounting.settings}Licenses=matlab:3\n"
    try:
        accounting.start()
        accounting.manage("add", "cluster", "a")
        for account in ("phys", "chem"):
            accounting.manage("add", "account", account)
        accounting.manage("add", "qos", "long")
        accounting.manage("add", "user", "root", "Account=phys", "DefaultAccount=phys")
        accounting.manage("modify", "user", "root", "where", "account=phys", "set", "qos+=long", "MaxJobs=50")
        bed.start()
        # Kinds of resources are known to the database once a controller with them has been there.
        limits = ("MaxTRESPerUser=gres/gpu=2", "MaxWall=2-00:00:00")
        accounting.manage("modify", "qos", "long", "set", *limits)
        yield cluster
    finally:
        bed.close()
        accounting.close()


@pytest.fixture
def equipped(equipped_cluster: Cluster) -> Iterator[Cluster]:
    """The same, without jobs before and after."""
    yield equipped_cluster
    equipped_cluster.end_jobs()
