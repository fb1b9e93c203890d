"""The batch systems, each started once for a run of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from broker_core.sites.batch.grid_engine import GridEngine
from broker_core.sites.batch.host import QUEUE, Host
from tests.sites.batch.beds import Bed
from tests.testbed import grid_engine


@pytest.fixture(scope="session")
def grid_engine_cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grid_engine.GridEngine]:
    """A real cell."""
    cell = grid_engine.GridEngine(tmp_path_factory.mktemp("cell"))
    try:
        cell.start()
        yield cell
    finally:
        cell.close()


def _grid_engine(request: pytest.FixtureRequest, folder: Path) -> Bed:
    cell = request.getfixturevalue("grid_engine_cell")
    return Bed(GridEngine(), grid_engine.QUEUE, cell.environment, folder)


def _host(request: pytest.FixtureRequest, folder: Path) -> Bed:
    return Bed(Host(), QUEUE, {"CROSSDESK_SLOTS": "4"}, folder)


_BEDS: dict[str, Callable[[pytest.FixtureRequest, Path], Bed]] = {"sge": _grid_engine, "shell": _host}
_REAL = [pytest.param("sge", marks=pytest.mark.cluster), "shell"]


@pytest.fixture(params=_REAL)
def bed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bed]:
    """Each batch system in turn."""
    made = _BEDS[request.param](request, tmp_path)
    yield made
    made.end_all()


@pytest.fixture
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bed]:
    """A host without a batch system, with four processors."""
    made = _host(request, tmp_path)
    yield made
    made.end_all()
