"""A parallel interactive job on free processors and in slots of one real cluster (CB-SCH-08, rule 5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.prepare import prepare
from broker_core.client.transport import BrokerTransport
from tests.broker.jobs import reach
from tests.broker.sites.grid import NAMES, WAITS, Grid, busy, with_both
from tests.broker.sites.launching import launching_broker
from tests.interactive.far_jobs import agent_file, attached
from tests.testbed.mpi import installed
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster]
SITE = NAMES[0]
PROGRAM = """#!/bin/sh
echo "rank $PMI_RANK"
exec 5<&0
[ "$PMI_RANK" != 0 ] || (read -r word <&5 && echo "read $word") &
exec ./ranks wait "$1"
"""
JOB = """
    JobType = "Parallel"; SubJobType = "mpich"; NodeNumber = {cpus}; Interactive = true;
    Executable = "run.sh"; Arguments = "{gate}"; InputSandbox = {{"run.sh", "ranks"}};
    StdOutput = "out"; StdError = "err"; Environment = {{"GIVEN=a value", "FI_TCP_IFACE=lo"}};
    Requirements = RegExp("main", other.GlueCEUniqueID);
"""


@pytest.fixture(params=[1])
def others(request: pytest.FixtureRequest, clusters: dict[str, Cluster]) -> int:
    """So many of the four processors of the northern cluster are not for this broker."""
    busy(clusters[SITE], request.param)
    return int(request.param)


@pytest.fixture
async def slotted(
    hosts: Path, state_dir: Path, clusters: dict[str, Cluster], isolated: Path, others: int
) -> AsyncIterator[Grid]:
    """A broker whose batch jobs run in glideins at the northern cluster, and that has an agent for it."""
    more = f"""glideins = ["{SITE}"]
slot_reads = ["{installed("mpich").prefix}", "{hosts}"]
agent_program = "{agent_file(isolated / "agent")}"
glidein_idle_exit = 0
"""
    (hosts / "run.sh").write_text(PROGRAM)
    (hosts / "ranks").write_bytes(installed("mpich").program.read_bytes())
    for name in ("run.sh", "ranks"):
        (hosts / name).chmod(0o755)
    with launching_broker(state_dir, "127.0.0.1", more) as broker:
        async with BrokerClient(BrokerTransport(state_dir, patience=20)) as client:
            await with_both(client, hosts)
            yield Grid(client, broker, clusters, hosts)


async def submitted(grid: Grid, text: str) -> str:
    """A job that may only run in the north."""
    return (await grid.client.submit_prepared(await prepare(text, grid.folder), site=SITE)).ids[0]


async def priorities(grid: Grid) -> dict[str, int | None]:
    """Of all that is in slots, by job."""
    found = (await grid.client.slots()).glideins
    return {slot.job: slot.priority for one in found for slot in one.slots if slot.job}


async def free(grid: Grid) -> dict[str, int]:
    """Free processors and free slots of the north's main queue."""
    page = (await grid.client.resources_page()).columns
    rows = zip(page["ce"], page["free_cpus"], strict=True)
    known = {ce: count for ce, count in rows if ce.startswith(f"{SITE}:") and ce.endswith("-main")}
    return {ce.split("-")[1]: count for ce, count in known.items()}


async def nearly_full(grid: Grid, gate: Path, others: int) -> list[str]:
    """Two batch jobs in glideins."""
    batch = [await submitted(grid, WAITS.format(gate=gate)) for _ in range(2)]
    for one in batch:
        await reach(grid.client, one, "Running")

    async def offered() -> bool:
        return await free(grid) == {"slurm": 2 - others, "slots": 2}

    await eventually(offered, what="the cluster tells of its slots")
    return batch


@pytest.mark.parametrize(
    ("others", "cpus"), [(1, 3), (2, 2)], ids=["a-processor-and-slots", "slots"], indirect=["others"]
)
async def test_it_starts_at_once_beside_the_batch_jobs_which_have_their_priority_back_then(
    slotted: Grid, tmp_path: Path, others: int, cpus: int
) -> None:
    gate, end = tmp_path / "gate", tmp_path / "end"
    batch = await nearly_full(slotted, end, others)
    job = await submitted(slotted, JOB.format(cpus=cpus, gate=gate))
    screen = await attached(slotted.client, job, b"rank 0")
    screen.session.write(b"hello\n")
    await screen.shows(b"read hello")
    assert await priorities(slotted) == dict.fromkeys(batch, 10) | {job: 0}

    refused = await submitted(slotted, JOB.format(cpus=2, gate=gate))
    row = await reach(slotted.client, refused, "Aborted")
    assert f"({SITE}: 0 of 4 CPUs and 0 of 2 slots free" in row["reason"]

    slotted.broker.kill()
    slotted.broker.start()
    gate.touch()
    await screen.ended()
    await screen.session.close()
    row = await reach(slotted.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await slotted.story(job)
    names = ["out", *(f"component-{index}/out" for index in range(1, cpus))]
    said = "".join([await slotted.output(job, name) for name in names])
    assert sorted(line for line in said.splitlines() if line.startswith("rank")) == [
        f"rank {number}" for number in range(cpus)
    ]
    assert f"\n{cpus} ranks of " in said
    assert said.endswith(" launchers, pi 3.141593, halo right, given a value\n")

    async def alone() -> bool:
        return await priorities(slotted) == dict.fromkeys(batch, 0)

    await eventually(alone, what="the batch jobs have their machines to themselves")
    end.touch()
    for one in batch:
        assert (await reach(slotted.client, one, "Done", "Aborted"))["state"] == "Done"
    slotted.clusters[SITE].end_jobs()
    await slotted.nothing_is_left()


async def test_what_is_not_there_is_refused_with_what_there_is(
    slotted: Grid, tmp_path: Path, others: int
) -> None:
    await nearly_full(slotted, tmp_path / "end", others)
    for cpus, now in ((3, True), (4, False)):
        text = JOB.format(cpus=cpus, gate="").replace('InputSandbox = {"run.sh", "ranks"};', "")
        found = (await slotted.client.match(text)).resources
        assert [one.matches for one in found if one.ce == f"{SITE}:22/jobmanager-slurm-main"] == [now]
    job = await submitted(slotted, JOB.format(cpus=4, gate=tmp_path / "gate"))
    row = await reach(slotted.client, job, "Aborted")
    assert f"({SITE}: 1 of 4 CPUs and 2 of 2 slots free" in row["reason"]
    assert (await slotted.client.job(job)).row["attempt"] == 0
    (tmp_path / "end").touch()


async def test_a_broker_that_dies_while_it_is_on_its_way_hands_it_over_once_more(
    slotted: Grid, tmp_path: Path, others: int
) -> None:
    await nearly_full(slotted, tmp_path / "end", others)
    job = await submitted(slotted, JOB.format(cpus=3, gate=tmp_path / "gate"))
    slotted.broker.kill()
    slotted.broker.start()
    await reach(slotted.client, job, "Running", "Aborted")
    story = await slotted.story(job)
    assert "All 3 components reached MPI_Init, and the barrier was released" in story, story
    assert (await slotted.client.job(job)).row["attempt"] == 1, story
    await slotted.client.cancel([job])
    await reach(slotted.client, job, "Canceled")
    (tmp_path / "end").touch()
    slotted.clusters[SITE].end_jobs()
    await slotted.nothing_is_left()
