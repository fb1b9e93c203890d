"""Real clusters for all tests here, and a remote site for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.leaks import lasting
from tests.running import end_all
from tests.sites.remote.far_site import Far, spec_for
from tests.testbed.slurm import Cluster, Slurm


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Two clusters, a and b."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("slurm") / "bed", ("a", "b"))
    try:
        yield bed.start()
    finally:
        bed.close()


@pytest.fixture
def cluster(slurm: Slurm) -> Iterator[Cluster]:
    """One cluster, without jobs before and after."""
    yield slurm.clusters["a"]
    slurm.clusters["a"].end_jobs()


@pytest.fixture
async def far(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Far]:
    """A site that works."""
    site = await Far(spec_for(cluster, tmp_path / "site"), tmp_path / "here").start()
    yield site
    await site.site.close()


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    """Where all is of a host that is a site; nothing runs there in the end."""
    yield tmp_path
    end_all(tmp_path)
