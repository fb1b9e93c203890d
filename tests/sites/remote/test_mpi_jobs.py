"""Parallel jobs on a real Slurm: ranks over the nodes that it gave, started by MPI-Start."""

from __future__ import annotations

import pytest

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.sites.contract import InputFile, LaunchOrder
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


@pytest.mark.parametrize("hosts", [1, 2])
async def test_ranks_run_over_all_nodes_that_the_cluster_gave(
    mpi: Installation, far: Far, hosts: int
) -> None:
    one = ranks(mpi, request=ResourceRequest(mpi=True, hosts=hosts))
    ended = await far.run(one)
    assert (ended.exit_code, ended.failure) == (0, ""), await far.text(one.attempt, "std.err")
    assert await far.text(one.attempt) == "4 ranks, pi 3.141593, halo right, given a value\n"
