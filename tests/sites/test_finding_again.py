"""A second site object takes over after the first was dropped: every attempt is found again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from broker_core.sites.attempt_directory import AttemptDirectory
from tests.sites.running_site import RunningSite, order, script
from tests.waiting import eventually


async def test_a_job_that_runs_on_is_followed_to_its_end(here: RunningSite, tmp_path: Path) -> None:
    job = script(f"while ! [ -e {tmp_path}/gate ]; do sleep 0.02; done; exit 6")
    await here.site.submit(job)
    await here.started(job.attempt)
    other = await here.again([(job.attempt, job)])
    assert len(other.starts(job.attempt)) == 1
    assert other.site.describe().free_cpus == 1
    (tmp_path / "gate").touch()
    assert (await other.ended(job.attempt)).exit_code == 6
    await other.close()


async def test_a_job_that_ended_meanwhile_has_its_exit_code(here: RunningSite, tmp_path: Path) -> None:
    job = script(f"while ! [ -e {tmp_path}/gate ]; do sleep 0.02; done; exit 7")
    await here.site.submit(job)
    await here.started(job.attempt)
    await here.site.close()
    (tmp_path / "gate").touch()
    await eventually(lambda: not here.left())
    other = await here.again([(job.attempt, None)])
    assert [ended.exit_code for ended in other.ends(job.attempt)] == [7]
    assert len(other.starts(job.attempt)) == 1
    await other.close()


async def test_queued_and_never_arrived_jobs_run_once(here: RunningSite, tmp_path: Path) -> None:
    long = order("sleep", "600", cpus=2)
    queued, never = (script(f"echo {name} >>{tmp_path}/ran") for name in ("queued", "never"))
    await here.site.submit(long)
    await here.site.submit(queued)
    await here.started(long.attempt)
    other = await here.again([(job.attempt, job) for job in (long, queued, never)])
    await other.site.cancel(long.attempt)
    for job in (queued, never):
        assert (await other.ended(job.attempt)).exit_code == 0
    assert sorted((tmp_path / "ran").read_text().split()) == ["never", "queued"]
    await other.close()


async def test_an_attempt_of_which_nothing_is_known_is_lost(here: RunningSite) -> None:
    stranger = order("true").attempt
    other = await here.again([(stranger, None)])
    assert [ended.failure for ended in other.ends(stranger)] == ["lost"]
    await other.close()


async def test_unknown_attempts_are_ended_and_removed_but_old_output_stays(here: RunningSite) -> None:
    unknown, done = script("setsid -f sleep 630; sleep 631"), script("echo kept")
    for job in (unknown, done):
        await here.site.submit(job)
    await here.started(unknown.attempt)
    await here.ended(done.attempt)
    other = await here.again([])
    await eventually(lambda: not other.left())
    assert not (here.directory / "attempts" / unknown.attempt.tag).exists()
    assert other.text(done.attempt) == "kept\n"
    await other.close()


async def test_a_starter_killed_while_nobody_looked_is_lost_with_all_its_processes(here: RunningSite) -> None:
    job = script("setsid -f sleep 640; sleep 641")
    await here.site.submit(job)
    await here.started(job.attempt)
    starter = here.starter(job.attempt)
    await here.site.close()
    os.kill(starter, signal.SIGKILL)
    other = await here.again([(job.attempt, job)])
    assert (await other.ended(job.attempt)).failure == "lost"
    assert not other.left()
    third = await other.again([(job.attempt, job)])
    assert [ended.failure for ended in third.ends(job.attempt)] == ["lost"]
    await third.close()


async def test_a_cancel_asked_before_the_restart_is_carried_out(here: RunningSite) -> None:
    job = script('trap "" TERM; while :; do sleep 650; done')
    await here.site.submit(job)
    await here.started(job.attempt)
    await here.site.cancel(job.attempt)
    other = await here.again([(job.attempt, job)])
    assert (await other.ended(job.attempt)).failure == "killed"
    assert not other.left()
    await other.close()


async def test_a_second_start_follows_the_first(here: RunningSite, tmp_path: Path) -> None:
    job = script(f"echo x >>{tmp_path}/seen; while ! [ -e {tmp_path}/gate ]; do sleep 0.02; done; exit 8")
    await here.site.submit(job)
    await here.started(job.attempt)
    run = here.site.runs[job.attempt.tag]
    here.site._start(run)
    (tmp_path / "gate").touch()
    assert (await here.ended(job.attempt)).exit_code == 8
    await eventually(lambda: not here.left())
    assert (tmp_path / "seen").read_text() == "x\n"


async def test_an_order_survives_being_written_down(tmp_path: Path) -> None:
    job = script("true", environment=(("A", "ü,\n"),), outputs=("*.csv",), wall_limit=2.5)
    directory = AttemptDirectory(tmp_path, job.attempt.tag)
    directory.make(job)
    assert directory.order() == job


@pytest.mark.parametrize("torn", [b"", b"\0" * 40, b'{"attempt": {"job"', b"[]", b'{"attempt": 3}', b"{}"])
@pytest.mark.parametrize("name", ["order", "over"])
@pytest.mark.expected_log("/(order|over) cannot be read, and counts as missing")
async def test_a_file_that_a_power_cut_tore_hinders_no_start(
    here: RunningSite, torn: bytes, name: str
) -> None:
    first, other = order("sh", "-c 'exit 3'"), order("sh", "-c 'exit 4'")
    await here.site.submit(first)
    await here.ended(first.attempt)
    path = here.directory / "attempts" / first.attempt.tag / name
    assert path.parent.is_dir()
    path.write_bytes(torn)
    again = await here.again([(first.attempt, None), (other.attempt, other)])
    assert (await again.ended(first.attempt)).exit_code in (3, None)
    assert (await again.ended(other.attempt)).exit_code == 4
    await again.close()
