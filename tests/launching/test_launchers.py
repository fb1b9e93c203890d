"""Launchers of jobs over several sites, with the real mpiexec; the sites are processes of this test."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from broker_core.jobs.states import JobState
from broker_core.launching.launchers import Launchers, NoLauncher, own_address
from broker_core.launching.spreading import Proxies
from broker_core.scheduling.coallocation.messages import (
    EndLauncher,
    LauncherLost,
    ReleaseBarrier,
)
from tests.launching.attempt import CHUNKS, ONE, TWO, Job, Linked, over_two
from tests.waiting import eventually, within

pytestmark = pytest.mark.mpi
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
async def _told(proxies: Proxies) -> bytes:
    """What a caller at the port of a component hears until its connection ends."""
    host, _, port = proxies.words.partition("--control-port ")[2].split(" ")[0].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        return await within(reader.read())
    finally:
        writer.close()


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


async def test_a_component_of_several_proxies_has_gathered_when_all_of_them_have(job: Job) -> None:
    job.chunks = ((1, 1), (1,))
    await job.both()
    assert set(job.gathered()) == {ONE, TWO}
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 0], job.said(ONE, "err") + job.said(TWO, "err")
    assert job.said(TWO) == "3 ranks of 3 launchers, pi 3.141593, halo right, given j.1.1\n"


async def test_an_exit_code_of_a_process_of_one_of_several_proxies_is_that_of_the_component(job: Job) -> None:
    job.chunks = ((1, 1), (1,))
    await job.both("exit", "1", "7")
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [7, 0]


async def test_who_calls_beside_the_proxy_of_a_component_is_not_listened_to(job: Job) -> None:
    await job.both()
    assert await _told(await job.launchers.words(ONE, CHUNKS)) == b""
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 0]


async def test_another_version_of_mpich_at_a_site_is_named_and_nothing_is_started(
    job: Job, tmp_path: Path
) -> None:
    (there := tmp_path / "mpich-3" / "bin").mkdir(parents=True)
    version = "HYDRA build details:\n    Version:      3.4.3"
    for name, says in (("mpiexec", version), ("hydra_pmi_proxy", "none")):
        (there / name).write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}'\n")
        (there / name).chmod(0o755)
    job.mpich = Linked(there.parent, job.mpich.program)
    await job.start(ONE)
    assert await job.codes() == [1]
    said = job.said(ONE, "err")
    assert "The MPICH of this site is version 3.4.3, and the broker's, which launches the job, is " in said
    assert job.said(ONE, ".crossdesk-software").rstrip() == said.removeprefix("CrossDesk: ").rstrip()


async def test_a_job_that_is_ended_while_mpiexec_is_looked_for_has_no_launcher(job: Job) -> None:
    asked = asyncio.create_task(job.launchers.words(ONE, CHUNKS))
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
        await launchers.words(ONE, CHUNKS)
    launchers.end(EndLauncher("j", 1))
    await launchers.close()
    assert own_address()
    unreadable = Launchers(tmp_path / "launchers", str(tmp_path / "none"), "", relay="somewhere")
    with pytest.raises(NoLauncher, match="must be host:port, not 'somewhere'"):
        await unreadable.words(ONE, CHUNKS, True)
