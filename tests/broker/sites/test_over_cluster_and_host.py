"""One MPI job over a cluster and a host that has no batch system."""

from __future__ import annotations

import pytest

from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach
from tests.broker.sites.grid import JOB, Grid
from tests.broker.sites.watching import known
from tests.running import processes_of
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster]
HOST = "west"
PARTS = ", ".join(
    f'[ NodeNumber = 4; Requirements = RegExp("{name}", other.GlueCEUniqueID); ]' for name in ("north", HOST)
)
RANKS = JOB.replace("NodeNumber = 6", f"SubJobs = {{{{ {PARTS} }}}}")


async def test_eight_ranks_over_a_cluster_and_a_host_are_one_world(grid: Grid) -> None:
    directory = grid.folder / f"{HOST}-there"
    spec = SiteSpec(
        name=HOST, kind="shell", host="south", directory=str(directory),
        poll_interval=0.2, list_interval=0.2, reachable=True,
    )  # fmt: skip
    await grid.client.add_site(spec)
    await known(grid.client, HOST)
    job = await grid.submit(text=RANKS)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await grid.story(job)
    assert [one.partition(":")[0] for one in str(row["site"]).split(", ")] == ["north", HOST]
    outputs = [await grid.output(job, name) for name in ("out", "component-1/out")]
    wanted = "8 ranks of 8 launchers, pi 3.141593, halo right, given a value\n"
    assert sorted(outputs) == ["", wanted]
    await grid.nothing_is_left()
    await eventually(lambda: not processes_of(directory), what="nothing is left at the host")
