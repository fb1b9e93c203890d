"""Parallel jobs at each batch system: MPI-Start reads which hosts it gave, and starts the ranks there."""

from __future__ import annotations

import pytest

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.sites.contract import InputFile, LaunchOrder
from tests.sites.remote.far_site import Far, order
from tests.testbed.mpi import installed

pytestmark = pytest.mark.mpi


def _ranks(far: Far, kind: str) -> LaunchOrder:
    mpi = installed(kind)
    return order(
        "./ranks",
        ce=f"far:22/jobmanager-{far.spec.kind}-{far.spec.queues[0]}",
        mpi=kind,
        cpus=2,
        request=ResourceRequest(mpi=True),
        environment=(*mpi.variables, ("GIVEN", "a value")),
        inputs=(InputFile("ranks", mpi.program, True),),
    )


async def test_ranks_of_mpich_are_started_on_what_each_batch_system_gave(far: Far) -> None:
    one = _ranks(far, "mpich")
    ended = await far.run(one)
    assert (ended.exit_code, ended.failure) == (0, ""), await far.text(one.attempt, "std.err")
    assert await far.text(one.attempt) == "2 ranks of 1 launchers, pi 3.141593, halo right, given a value\n"


async def test_ranks_of_open_mpi_are_started_at_grid_engine_and_at_a_plain_host(real_far: Far) -> None:
    one = _ranks(real_far, "openmpi")
    ended = await real_far.run(one)
    assert (ended.exit_code, ended.failure) == (0, ""), await real_far.text(one.attempt, "std.err")
    told = await real_far.text(one.attempt)
    assert told == "2 ranks of 1 launchers, pi 3.141593, halo right, given a value\n"
