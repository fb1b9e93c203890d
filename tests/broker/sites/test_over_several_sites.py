"""One MPI job over two real Slurm clusters: MPICH's processes of both are one MPI_COMM_WORLD."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.inspector.coallocation.pane import CoallocationPane
from tests.app.pictures import PICTURES
from tests.app.windows import Stage, play
from tests.broker.jobs import reach
from tests.broker.sites.grid import JOB, NAMES, Grid, command_of, with_both
from tests.broker.sites.watching import known
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster]


async def test_a_job_that_fits_on_neither_site_runs_over_both_as_one(grid: Grid) -> None:
    job = await grid.submit()
    row = await reach(grid.client, job, "Done", "Aborted")
    story = await grid.story(job)
    assert (row["state"], row["exit_code"]) == ("Done", 0), story
    assert "1 of 2 components reached MPI_Init" in story
    assert "All 2 components reached MPI_Init, and the barrier was released" in story
    listed = {one.path: one.role for one in await grid.client.files(job)}
    assert {"out", "component-1/out"} <= listed.keys(), listed
    assert await grid.output(job, "out") == ""
    wanted = "6 ranks of 6 launchers, pi 3.141593, halo right, given a value\n"
    assert await grid.output(job, "component-1/out") == wanted
    await grid.nothing_is_left()


async def test_components_of_the_description_run_where_each_says_and_two_may_share_a_site(
    grid: Grid,
) -> None:
    parts = [(1, "south"), (3, "north"), (2, "south")]
    ads = ", ".join(
        f'[ NodeNumber = {cpus}; Requirements = RegExp("{name}", other.GlueCEUniqueID); ]'
        for cpus, name in parts
    )
    fixed = JOB.replace("NodeNumber = 6", f"SubJobs = {{{{ {ads} }}}}")
    job = await grid.submit(text=fixed)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await grid.story(job)
    assert [one.partition(":")[0] for one in str(row["site"]).split(", ")] == [name for _, name in parts]
    wanted = "6 ranks of 6 launchers, pi 3.141593, halo right, given a value\n"
    said = [await grid.output(job, name) for name in ("out", "component-1/out", "component-2/out")]
    assert (said.count(""), wanted in said) == (2, True), said
    await grid.nothing_is_left()


async def test_sites_that_cannot_call_each_other_run_one_job_by_way_of_the_broker_s_machine(
    closed: Grid, tmp_path: Path
) -> None:
    """The broker itself is killed meanwhile, which what carries the packets outlives."""
    job = await running(closed, tmp_path / "gate", "pacx-mpi")
    closed.broker.kill()
    closed.broker.start()
    await reach(closed.client, job, "Running")

    async def counted() -> bool:
        said = await asyncio.to_thread(crossdesk, "job", "status", job)
        way = "overlay, by way of the broker (by a network namespace at each site); "
        return way in said.out and "north sent 0 B" not in said.out

    await eventually(counted)
    (tmp_path / "gate").touch()
    row = await reach(closed.client, job, "Done", "Aborted")
    assert row["state"] == "Done", await closed.story(job)
    wanted = "4 ranks of 4 launchers, pi 3.141593, halo right, given a value\n"
    assert await closed.output(job, "component-1/out") == wanted
    await closed.nothing_is_left()


async def test_the_death_of_what_carries_a_site_ends_all(closed: Grid, tmp_path: Path) -> None:
    job = await running(closed, tmp_path / "gate", "pacx-mpi")
    carrier, *_ = closed.called("south", b"overlay.py\0run")
    os.kill(carrier, signal.SIGKILL)
    row = await reach(closed.client, job, "Done", "Aborted")
    assert row["state"] == "Aborted", await closed.story(job)
    await closed.nothing_is_left()


async def running(grid: Grid, gate: Path, kind: str = "mpich-g2") -> str:
    """A job that computes on both sites until the gate is opened."""
    job = await grid.submit(f"wait {gate}", kind)
    await reach(grid.client, job, "Running")
    assert len(grid.there()) == 2
    nodes = [grid.clusters[name].run("squeue", "-h", "-o", "%D").split() for name in NAMES]
    # Four processes in the north lie on two nodes of two processors.
    assert nodes == ([["2"], ["1"]] if kind == "mpich-g2" else [["1"], ["1"]])
    return job


def ranks(grid: Grid, name: str) -> list[int]:
    """Processes of the program at a site."""
    return [pid for pid in grid.called(name, b"./ranks\0") if command_of(pid).startswith(b"./ranks\0")]


async def test_a_component_that_dies_while_all_compute_ends_the_others_and_the_job(
    grid: Grid, tmp_path: Path
) -> None:
    job = await running(grid, tmp_path / "gate")
    os.kill(ranks(grid, "south")[0], signal.SIGKILL)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert row["state"] == "Aborted", await grid.story(job)
    assert "it ended with exit code" in row["reason"]
    await grid.nothing_is_left()


async def gathering(grid: Grid) -> tuple[str, str]:
    """A job whose component in the north waits in MPI_Init, and the id of what the south is busy with."""
    busy = grid.clusters["south"]
    other = busy.run("sbatch", "--parsable", "-n4", "-o", "/dev/null", "--wrap", "sleep 600").strip()
    await eventually(lambda: "R" in busy.run("squeue", "-h", "-o", "%t"))
    job = await grid.submit()

    async def one() -> bool:
        return "1 of 2 components reached MPI_Init" in await grid.story(job)

    await eventually(one)
    return job, other


async def test_a_component_that_dies_before_the_barrier_is_tried_again_with_all_others(grid: Grid) -> None:
    job, other = await gathering(grid)
    os.kill(ranks(grid, "north")[0], signal.SIGKILL)

    async def retried() -> bool:
        return any(one.startswith("Once more on the same") for one in await grid.story(job))

    await eventually(retried)
    grid.clusters["south"].run("scancel", other)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert row["state"] == "Done", await grid.story(job)
    await grid.nothing_is_left()


async def test_a_component_that_stays_in_the_queue_gives_all_back_and_the_job_is_tried_again(
    grid: Grid,
) -> None:
    grid.broker.kill()
    with (grid.broker.state_dir / "broker.toml").open("a") as settings:
        settings.write("gather_timeout = 12\n")
    grid.broker.start()
    for name in NAMES:
        await known(grid.client, name)
    job, other = await gathering(grid)

    async def given_up() -> bool:
        return "1 of 2 components reached MPI_Init within 12 s." in await grid.story(job)

    await eventually(given_up)
    grid.clusters["south"].run("scancel", other)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert row["state"] == "Done", await grid.story(job)
    assert int(str(row["attempt"])) > 1
    await grid.nothing_is_left()


def test_the_window_and_the_command_line_show_who_waits_at_the_barrier_for_whom(
    qapp: QApplication, hosts: Path, launching: RunningBroker, clusters: dict[str, Cluster]
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        grid = Grid(on.context.client, launching, clusters, hosts)
        await with_both(grid.client, hosts)
        job, other = await gathering(grid)
        on.window.show_job(job, "components")
        pane = on.window.inspector.panes["components"]
        assert isinstance(pane, CoallocationPane)
        await eventually(lambda: pane.picture.gate_words == "1 of 2")
        waits = "1 of 2 components reached MPI_Init; those there wait for south."
        assert pane.barrier.text() == waits
        _picture(on, "gathering")
        shown = await asyncio.to_thread(crossdesk, "job", "status", job)
        assert f"Barrier: {waits}" in shown.out, shown
        assert [line.split()[:3] for line in shown.out.splitlines() if "In MPI_Init" in line] == [
            ["north", "4", "0-3"]
        ]
        clusters["south"].run("scancel", other)
        await eventually(lambda: pane.picture.story is not None and pane.picture.story.released)
        await eventually(lambda: on.ended(job))
        standings = ["Exit code 0"] * 2
        await eventually(lambda: [one.words for one in pane.picture.story.components] == standings)
        assert pane.ranks.text() == "Ranks 0-3 at north, 4-5 at south."
        _picture(on, "ended")

    play(qapp, launching.state_dir, scenario)


def _picture(on: Stage, name: str) -> None:
    assert on.window.grab().save(str(PICTURES / f"desk-components-{name}-light-1280.png"))


@pytest.mark.parametrize("computes", [True, False], ids=["computing", "gathering"])
async def test_a_cancel_leaves_nothing_at_any_site(grid: Grid, tmp_path: Path, computes: bool) -> None:
    job = await running(grid, tmp_path / "gate") if computes else (await gathering(grid))[0]
    await grid.client.cancel([job])
    await reach(grid.client, job, "Canceled")
    for cluster in grid.clusters.values():
        cluster.run("scancel", "--name=wrap")
    await grid.nothing_is_left()


async def test_the_death_of_the_launcher_while_all_compute_ends_the_job(grid: Grid, tmp_path: Path) -> None:
    job = await running(grid, tmp_path / "gate")
    os.kill(grid.launcher(job).pid(), signal.SIGKILL)
    await reach(grid.client, job, "Aborted")
    await grid.nothing_is_left()


async def test_a_broker_that_is_killed_while_all_compute_finds_the_end(grid: Grid, tmp_path: Path) -> None:
    job = await running(grid, tmp_path / "gate")
    grid.broker.kill()
    grid.broker.start()
    await reach(grid.client, job, "Running")
    (tmp_path / "gate").touch()
    row = await reach(grid.client, job, "Done", "Aborted")
    assert row["state"] == "Done", await grid.story(job)
    await grid.nothing_is_left()


async def test_a_broker_that_is_killed_while_they_gather_adopts_the_launcher(grid: Grid) -> None:
    job, other = await gathering(grid)
    launcher = grid.launcher(job).pid()
    assert launcher
    grid.broker.kill()
    grid.broker.start()
    assert grid.launcher(job).pid() == launcher
    grid.clusters["south"].run("scancel", other)
    row = await reach(grid.client, job, "Done", "Aborted")
    assert (row["state"], row["attempt"]) == ("Done", 1), await grid.story(job)
    events = [one.details for one in await grid.client.events_of(job) if one.type == "job.component_changed"]
    steps = [(one["component"], one["step"]) for one in events]
    assert len(steps) == len(set(steps)), "what the first broker recorded is not recorded again"
    assert {(index, step) for index in (0, 1) for step in ("accepted", "gathered", "ended")} <= set(steps)
    await grid.nothing_is_left()
