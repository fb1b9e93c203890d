"""Launchers of jobs over several sites, with the real mpiexec; the sites are processes of this test."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component, shared
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.launching.launcher_folder import LauncherFolder
from broker_core.launching.launchers import Launchers, NoLauncher, own_address
from broker_core.scheduling.coallocation.messages import (
    ComponentGathered,
    EndLauncher,
    LauncherLost,
    ReleaseBarrier,
)
from broker_core.worker.script import mpi_start_path
from tests.testbed.mpi import Installation, installed
from tests.waiting import eventually, within

pytestmark = pytest.mark.mpi
CPUS = (2, 1)
_ENDS = """
#include <mpi.h>
#include <unistd.h>
int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        _exit(5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
ONE, TWO = Component("j", 1), Component("j", 1, 1)


def over_two(state: JobState) -> JobRecord:
    where = shared(("a:22/jobmanager-slurm-x", "b:22/jobmanager-slurm-x"), 3)
    return JobRecord("j", "ann", "ranks", "Parallel", False, 3, state, "", placements=where, attempt=1)


@dataclass(frozen=True)
class Linked:
    """An MPI with another program than that which checks its ranks."""

    prefix: Path
    program: Path


class Job:
    """One attempt over two sites."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mpich: Installation | Linked = installed("mpich")
        self.heard: list[ComponentGathered | LauncherLost] = []
        self.launchers = self.broker()
        self.parts: list[asyncio.subprocess.Process] = []

    def broker(self) -> Launchers:
        made = Launchers(self.root / "launchers", str(self.mpich.prefix / "bin/mpiexec"), "127.0.0.1")
        made.post = self.heard.append
        return made

    async def start(self, one: Component, *words: str) -> None:
        """What a site does with a component."""
        folder = self.root / one.tag / "job"
        folder.mkdir(parents=True)
        proxy = await self.launchers.words(one, CPUS)
        given = {"PATH": os.defpath, "FI_TCP_IFACE": "lo", "CROSSDESK_MPI_PROXY": proxy, "GIVEN": one.tag}
        script = ["/bin/sh", str(mpi_start_path()), "mpich-g2", str(CPUS[one.index])]
        script += [str(self.mpich.prefix), "GIVEN", str(folder.parent), str(self.mpich.program), *words]
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            part = await asyncio.create_subprocess_exec(
                *script, cwd=folder, env=given, stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=err
            )
        self.parts.append(part)

    async def codes(self) -> list[int]:
        return [await within(part.wait(), 60) for part in self.parts]

    def said(self, one: Component, name: str = "out") -> str:
        return (self.root / one.tag / "job" / name).read_text()

    def gathered(self) -> list[Component]:
        return [one.component for one in self.heard if isinstance(one, ComponentGathered)]

    @property
    def folder(self) -> LauncherFolder:
        return LauncherFolder(self.root / "launchers" / "j.1")

    async def both(self, *words: str) -> None:
        await self.start(ONE, *words)
        await self.start(TWO, *words)
        await eventually(lambda: len(self.gathered()) == 2)


async def _told(proxy: str) -> bytes:
    """What a caller at the port of a component hears until its connection ends."""
    host, _, port = proxy.partition("--control-port ")[2].split(" ")[0].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        return await within(reader.read())
    finally:
        writer.close()


@pytest.fixture
async def job(tmp_path: Path) -> AsyncIterator[Job]:
    made = Job(tmp_path)
    yield made
    for part in made.parts:
        if part.returncode is None:
            part.kill()
        await part.wait()
    made.launchers.end(EndLauncher("j", 1))
    await made.launchers.close()
    await eventually(lambda: made.folder.processes() == [], what="no process of the launcher is left")


async def test_all_wait_in_mpi_init_until_the_barrier_is_released_and_then_compute_together(job: Job) -> None:
    await job.start(TWO)
    await eventually(lambda: job.gathered() == [TWO])
    await job.start(ONE)
    await eventually(lambda: job.gathered() == [TWO, ONE])
    assert (job.said(ONE), job.said(TWO)) == ("", "")
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 0], job.said(ONE, "err") + job.said(TWO, "err")
    assert job.said(TWO) == "3 ranks of 3 launchers, pi 3.141593, halo right, given j.1.1\n"
    await eventually(lambda: not job.folder.path.exists())
    assert not any(isinstance(one, LauncherLost) for one in job.heard)


async def test_who_calls_beside_the_proxy_of_a_component_is_not_listened_to(job: Job) -> None:
    await job.both()
    assert await _told(await job.launchers.words(ONE, CPUS)) == b""
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 0]


async def test_a_job_that_is_ended_while_mpiexec_is_looked_for_has_no_launcher(job: Job) -> None:
    asked = asyncio.create_task(job.launchers.words(ONE, CPUS))
    await asyncio.sleep(0)
    job.launchers.end(EndLauncher("j", 1))
    with pytest.raises(NoLauncher, match="ended before"):
        await within(asked)
    assert not job.folder.path.exists()


async def test_a_rank_that_fails_fails_its_component_and_no_process_is_left(job: Job) -> None:
    await job.both("kill", "2")
    job.launchers.release(ReleaseBarrier("j", 1))
    assert 0 not in await job.codes()


async def test_a_rank_that_ends_without_a_word_to_mpi_ends_the_others(job: Job, tmp_path: Path) -> None:
    source, program = tmp_path / "ends.c", tmp_path / "ends"
    source.write_text(_ENDS)
    mpicc = job.mpich.prefix / "bin/mpicc"
    subprocess.run([mpicc, "-o", program, source], check=True)
    job.mpich = Linked(job.mpich.prefix, program)
    await job.both()
    job.launchers.release(ReleaseBarrier("j", 1))
    assert 0 not in await job.codes()


async def test_an_exit_code_is_that_of_the_component_whose_rank_had_it(job: Job) -> None:
    await job.both("exit", "2", "7")
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 7]


async def test_the_end_of_a_launcher_ends_every_component(job: Job, tmp_path: Path) -> None:
    await job.both("wait", str(tmp_path / "gate"))
    job.launchers.release(ReleaseBarrier("j", 1))
    job.launchers.end(EndLauncher("j", 1))
    assert 0 not in await job.codes()
    assert not job.folder.path.exists()


async def test_the_next_broker_adopts_a_launcher_and_hears_again_who_waits(job: Job) -> None:
    await job.start(ONE)
    await eventually(lambda: job.gathered() == [ONE])
    await job.launchers.close()
    job.heard.clear()
    job.launchers = job.broker()
    job.launchers.adopt([over_two(JobState.SCHEDULED)])
    await eventually(lambda: job.gathered() == [ONE])
    await job.start(TWO)
    await eventually(lambda: job.gathered() == [ONE, TWO])
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 0]


async def test_what_no_job_has_any_more_is_ended_by_the_next_broker(job: Job) -> None:
    await job.start(ONE)
    await job.launchers.close()
    job.launchers = job.broker()
    job.launchers.adopt([])
    assert not job.folder.path.exists()
    assert 0 not in await job.codes()


@pytest.mark.expected_log("The launcher of j.1 died before all components were there")
@pytest.mark.parametrize("victim", ["launcher", "mpiexec"])
async def test_a_launcher_that_is_killed_before_the_barrier_is_lost(job: Job, victim: str) -> None:
    await job.both()
    launcher = job.folder.pid()
    mpiexec = next(pid for pid in job.folder.processes() if pid != launcher)
    os.kill(launcher if victim == "launcher" else mpiexec, signal.SIGKILL)
    await eventually(lambda: job.heard[-1] == LauncherLost("j", 1))
    assert 0 not in await job.codes()
    await eventually(lambda: not job.folder.path.exists())


async def test_a_machine_without_mpich_says_so(tmp_path: Path) -> None:
    launchers = Launchers(tmp_path / "launchers", str(tmp_path / "none"), "")
    with pytest.raises(NoLauncher, match="did not say how"):
        await launchers.words(ONE, CPUS)
    launchers.end(EndLauncher("j", 1))
    await launchers.close()
    assert own_address()
