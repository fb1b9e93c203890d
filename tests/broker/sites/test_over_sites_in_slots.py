"""One MPI job over two real Slurm clusters whose components are in slots (scenario 7 of section 8.4)."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.prepare import prepare
from broker_core.client.transport import BrokerTransport
from tests.broker.jobs import reach
from tests.broker.sites.grid import JOB, NAMES, WAITS, Grid, busy, with_both
from tests.broker.sites.launching import launching_broker
from tests.testbed.mpi import installed
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster]
PARTS = ", ".join(
    f'[ NodeNumber = 1; Requirements = RegExp("{name}", other.GlueCEUniqueID); ]' for name in NAMES
)
TEXT = JOB.replace("NodeNumber = 6", f"SubJobs = {{{{ {PARTS} }}}}")


@pytest.fixture(params=["low_priority", "suspend"])
def policy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def slotted(
    hosts: Path, state_dir: Path, clusters: dict[str, Cluster], policy: str
) -> AsyncIterator[Grid]:
    """A broker whose batch jobs run in glideins at both clusters."""
    more = f"""glideins = ["{NAMES[0]}", "{NAMES[1]}"]
slot_reads = ["{installed("mpich").prefix}", "{hosts}"]
on_release = "{policy}"
glidein_idle_exit = 0
"""
    with launching_broker(state_dir, "127.0.0.1", more) as broker:
        async with BrokerClient(BrokerTransport(state_dir, patience=20)) as client:
            await with_both(client, hosts)
            yield Grid(client, broker, clusters, hosts)


async def steps(grid: Grid, site: str) -> list[tuple[str, int | None, str]]:
    """What the slots of a site's glidein have: job, nice value and step of the claim."""
    found = [one for one in (await grid.client.slots()).glideins if one.site == site]
    return [(slot.job, slot.priority, slot.step) for one in found for slot in one.slots]


async def gathering(grid: Grid, folder: Path) -> tuple[str, str]:
    """A job whose component in the north waits for that in the south, where another one keeps the site."""
    south = grid.clusters["south"]
    other = busy(south, 4)
    await eventually(lambda: "R" in south.run("squeue", "-h", "-o", "%t"))
    job = await grid.submit(f"wait {folder}/gate", text=TEXT)

    async def waits() -> bool:
        return "1 of 2 components reached MPI_Init" in await grid.story(job)

    await eventually(waits, what="the first component waits for the second")
    return job, other


async def test_a_batch_job_fills_the_wait_for_the_other_site_and_gives_way_when_all_compute(
    slotted: Grid, policy: str, tmp_path: Path
) -> None:
    north, south = (slotted.clusters[name] for name in NAMES)
    job, other = await gathering(slotted, tmp_path)
    busy(north, 3)
    text = WAITS.format(gate=tmp_path / "end")
    batch = (await slotted.client.submit_prepared(await prepare(text, Path("/")), site="north")).ids[0]
    await reach(slotted.client, batch, "Running")

    async def shared(component: str, beside: str) -> bool:
        return await steps(slotted, "north") == [(batch, 10, beside), (job, 0, component)]

    await eventually(lambda: shared("Gathering", "Running"), what="the batch job fills the wait")
    slotted.broker.kill()
    slotted.broker.start()
    await eventually(lambda: shared("Gathering", "Running"), what="the next broker knows that")

    south.run("scancel", other)
    await reach(slotted.client, job, "Running")
    beside = "Suspended" if policy == "suspend" else "Running"
    await eventually(lambda: shared("Running", beside), what="the batch job gives way")
    (tmp_path / "gate").touch()
    row = await reach(slotted.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await slotted.story(job)
    said = "".join([await slotted.output(job, name) for name in ("out", "component-1/out")])
    assert said.startswith("2 ranks of "), said
    assert said.endswith(" launchers, pi 3.141593, halo right, given a value\n"), said

    async def alone() -> bool:
        return (await steps(slotted, "north"))[0] == (batch, 0, "Running")

    await eventually(alone, what="the batch job has the machine to itself")
    (tmp_path / "end").touch()
    assert (await reach(slotted.client, batch, "Done", "Aborted"))["state"] == "Done"
    north.end_jobs()
    await slotted.nothing_is_left()


@pytest.mark.parametrize("policy", ["cancel"], indirect=True)
@pytest.mark.parametrize("computes", [False, True], ids=["gathers", "computes"])
async def test_a_job_over_both_that_is_canceled_leaves_nothing_in_slots(
    slotted: Grid, tmp_path: Path, computes: bool
) -> None:
    job, other = await gathering(slotted, tmp_path)
    slotted.clusters["south"].run("scancel", other)
    if computes:
        await reach(slotted.client, job, "Running")
    await slotted.client.cancel([job])
    await reach(slotted.client, job, "Canceled")
    await slotted.nothing_is_left()


@pytest.mark.parametrize("policy", ["low_priority"], indirect=True)
async def test_a_component_whose_glidein_dies_while_it_waits_ends_the_other_one_and_the_job_is_done_once_more(
    slotted: Grid, tmp_path: Path
) -> None:
    job, other = await gathering(slotted, tmp_path)
    for pid in slotted.called("north", b"/glidein.sh"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    async def again() -> bool:
        return (await slotted.client.job(job)).row["attempt"] == 2

    # Once all compute the death of one would end the job.
    await eventually(again, 120, what="the job is sent once more")
    slotted.clusters["south"].run("scancel", other)
    await reach(slotted.client, job, "Running")
    (tmp_path / "gate").touch()
    row = await reach(slotted.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await slotted.story(job)
    await slotted.nothing_is_left()
