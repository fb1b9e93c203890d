"""One bench for each test: a relay, and room for an agent."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.interactive.pair import Bench, bench
from tests.packaging.conftest import agent_files as agent_files
from tests.testbed.guardian import Guardian
from tests.testbed.slurm import Cluster, Slurm


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose processes end with the tests, even if those are killed."""
    folder = tmp_path_factory.mktemp("channel")
    guardian = Guardian(folder)
    yield folder
    guardian.close()


@pytest.fixture
async def made(ground: Path) -> AsyncIterator[Bench]:
    async with bench(Path(tempfile.mkdtemp(dir=ground))) as bench_made:
        yield bench_made


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A real Slurm cluster of one node."""
    bed = Slurm(tmp_path_factory.mktemp("slurm") / "bed", ("a",))
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()
