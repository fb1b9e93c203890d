"""The batch systems, each started once for a run of tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from broker_core.sites import factory as making
from broker_core.sites.batch.condor import Condor
from broker_core.sites.batch.condor_bindings import CondorBindings
from broker_core.sites.batch.grid_engine import GridEngine
from broker_core.sites.batch.host import QUEUE, Host
from broker_core.sites.batch.lsf import Lsf
from broker_core.sites.batch.pbs import Pbs
from broker_core.sites.batch.slurm import Slurm
from broker_core.wire.sites import SiteSpec
from tests.leaks import lasting
from tests.running import end_all
from tests.sites.batch.beds import Bed
from tests.sites.remote.far_site import Far
from tests.testbed import grid_engine, slurm
from tests.testbed.simulated import cluster, condor, lsf, pbs


@pytest.fixture(scope="session")
def grid_engine_cell() -> Iterator[grid_engine.GridEngine]:
    """A real cell."""
    cell = grid_engine.GridEngine()
    try:
        with lasting():
            cell.start()
        yield cell
    finally:
        cell.close()


@pytest.fixture(scope="session")
def slurm_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[slurm.Cluster]:
    """A real cluster of one node with eight processors."""
    with lasting():
        bed = slurm.Slurm(tmp_path_factory.mktemp("slurm") / "bed", nodes=1, cpus=8)
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()


def slurm_bed(request: pytest.FixtureRequest, folder: Path) -> Bed:
    """A real Slurm."""
    cluster = request.getfixturevalue("slurm_cluster")
    return Bed(Slurm(), slurm.QUEUES[0], cluster.environment, folder)


def grid_engine_bed(request: pytest.FixtureRequest, folder: Path) -> Bed:
    """A real Grid Engine."""
    cell = request.getfixturevalue("grid_engine_cell")
    return Bed(GridEngine(), grid_engine.QUEUE, cell.environment, folder)


def _host(request: pytest.FixtureRequest, folder: Path) -> Bed:
    return Bed(Host(), QUEUE, {"CROSSDESK_SLOTS": "4"}, folder)


def _pbs(request: pytest.FixtureRequest, folder: Path) -> Bed:
    more = {pbs.FLAVOUR: "professional"}
    return Bed(Pbs(), cluster.QUEUES[0], cluster.install(folder / "pbs", "pbs", pbs.COMMANDS, more), folder)


def _torque(request: pytest.FixtureRequest, folder: Path) -> Bed:
    more = {pbs.FLAVOUR: "torque"}
    return Bed(Pbs(), cluster.QUEUES[0], cluster.install(folder / "pbs", "pbs", pbs.COMMANDS, more), folder)


def _lsf(request: pytest.FixtureRequest, folder: Path) -> Bed:
    return Bed(Lsf(), cluster.QUEUES[0], cluster.install(folder / "lsf", "lsf", lsf.COMMANDS, {}), folder)


def _condor(request: pytest.FixtureRequest, folder: Path) -> Bed:
    environment = cluster.install(folder / "condor", "condor", condor.COMMANDS, {})
    return Bed(Condor(), QUEUE, environment, folder)


def _condor_bindings(request: pytest.FixtureRequest, folder: Path) -> Bed:
    (folder / "condor").mkdir()
    environment = {cluster.FOLDER: str(folder / "condor"), "PYTHONPATH": str(request.config.rootpath)}
    program = (sys.executable, "-m", "tests.testbed.simulated.condor_bindings")
    return Bed(CondorBindings(program), QUEUE, environment, folder)


_BEDS: dict[str, Callable[[pytest.FixtureRequest, Path], Bed]] = {
    "slurm": slurm_bed,
    "sge": grid_engine_bed,
    "shell": _host,
    "simulated-pbs": _pbs,
    "simulated-torque": _torque,
    "simulated-lsf": _lsf,
    "simulated-condor": _condor,
    "simulated-condor-bindings": _condor_bindings,
}
_CLUSTERS = ("slurm", "sge")


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.cluster] * (name in _CLUSTERS)) for name in _BEDS]
)
def bed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bed]:
    """Each batch system in turn."""
    made = _BEDS[request.param](request, tmp_path)
    yield made
    made.end_all()
    end_all(tmp_path)


async def _far(bed: Bed, folder: Path) -> AsyncIterator[Far]:
    fields = {
        "name": "far",
        "kind": bed.system.kind,
        "poll_interval": 0.1,
        "list_interval": 0.1,
        "directory": str(folder / "site"),
    }
    spec = SiteSpec.model_validate(fields | {"environment": dict(bed.environment), "queues": [bed.queue]})
    site = await Far(spec, folder / "here").start()
    yield site
    await site.site.close()


@pytest.fixture
async def far(bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Far]:
    """A remote site that works, with each batch system in turn."""
    monkeypatch.setattr(making, "system_for", lambda _: bed.system)
    async for site in _far(bed, tmp_path):
        yield site


@pytest.fixture(params=[pytest.param("sge", marks=pytest.mark.cluster), "shell"])
async def real_far(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Far]:
    """A remote site that works, at Grid Engine and at a plain host."""
    async for site in _far(_BEDS[request.param](request, tmp_path), tmp_path):
        yield site


@pytest.fixture
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bed]:
    """A host without a batch system, with four processors."""
    made = _host(request, tmp_path)
    yield made
    made.end_all()
