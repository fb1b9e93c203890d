"""Parallel jobs on a real Slurm: ranks over the nodes that it gave, started by MPI-Start."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.sites.contract import InputFile, LaunchOrder
from tests.running import processes_of
from tests.sites.remote.far_site import Far, order
from tests.testbed.mpi import KINDS, Installation, installed
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.mpi]


@pytest.fixture(scope="module", params=KINDS)
def mpi(request: pytest.FixtureRequest) -> Installation:
    return installed(request.param)


def ranks(mpi: Installation, words: str = "", **more: object) -> LaunchOrder:
    """An order for the program that checks its ranks."""
    # Nodes of the test's clusters share their memory, which Open MPI does not expect of different hosts.
    given = (*mpi.variables, ("GIVEN", "a value"), ("OMPI_MCA_btl", "tcp,self"))
    wanted: dict[str, object] = {"cpus": 4, "request": ResourceRequest(mpi=True), **more}
    inputs = (InputFile("ranks", mpi.program, True),)
    return order("./ranks", words, mpi=mpi.kind, environment=given, inputs=inputs, **wanted)


async def test_ranks_run_over_all_nodes_that_the_cluster_gave(mpi: Installation, far: Far) -> None:
    one = ranks(mpi, request=ResourceRequest(mpi=True, hosts=2))
    ended = await far.run(one)
    assert (ended.exit_code, ended.failure) == (0, ""), await far.text(one.attempt, "std.err")
    assert (
        await far.text(one.attempt)
        == "4 ranks of 2 launchers, pi 3.141593, halo right, given a value\n"
    )


async def test_a_killed_rank_fails_the_job_and_leaves_none_on_any_node(
    mpi: Installation, far: Far, tmp_path: Path
) -> None:
    one = ranks(mpi, "kill 3", request=ResourceRequest(mpi=True, hosts=2))
    assert (await far.run(one)).exit_code not in (0, None)
    await eventually(lambda: not processes_of(tmp_path / "site"))


async def test_a_canceled_job_leaves_no_rank_on_any_node(
    mpi: Installation, far: Far, cluster: Cluster, tmp_path: Path
) -> None:
    one = ranks(mpi, f"wait {tmp_path / 'gate'}", request=ResourceRequest(mpi=True, hosts=2))
    await far.site.submit(one)
    await far.site.confirm(one.attempt)

    def known() -> str:
        texts = [path.read_text() for path in (tmp_path / "site").rglob("std.err")]
        return f"4 ranks run, not {_running(tmp_path)}; {texts}, {cluster.present()}, {far.notices}"

    await eventually(lambda: _running(tmp_path) == 4, what=known)
    await far.site.cancel(one.attempt)
    assert (await far.ended(one.attempt)).failure == "killed"
    await eventually(lambda: not processes_of(tmp_path / "site"))
    await eventually(lambda: not cluster.present())


def _running(folder: Path) -> int:
    """Ranks that are there."""
    found = (Path(f"/proc/{pid}/cmdline") for pid in processes_of(folder / "site"))
    return sum(_words(path).startswith(b"./ranks\0wait") for path in found)


def _words(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
