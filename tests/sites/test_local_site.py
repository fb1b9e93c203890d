"""Jobs at the local site: queue, notices, ends, files."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.errors import NotFound
from broker_core.jobs.placement import Component
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import InputFile, SiteRefused
from broker_core.sites.local.settings import LocalSettings
from tests.sites.running_site import QUICK, RunningSite, order, script
from tests.testbed.disk import small_disk as mounted
from tests.waiting import eventually


async def test_a_job_runs_and_its_start_and_end_are_told(here: RunningSite) -> None:
    job = script("echo $((40+2)); exit 3")
    assert await here.site.submit(job) == job.attempt.tag
    ended = await here.ended(job.attempt)
    assert (ended.exit_code, ended.signal, ended.failure) == (3, None, "")
    assert [type(notice).__name__ for notice in here.notices] == ["AttemptStarted", "AttemptEnded"]
    assert here.text(job.attempt) == "42\n"
    assert ended.started is not None
    assert {"wall_s", "cpu_s"} <= set(ended.usage)


async def test_the_memory_told_is_the_jobs_and_never_that_of_the_broker(here: RunningSite) -> None:
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    small, big = script("true"), order(sys.executable, f"-c 'bytearray([1]) * {ours + 64_000_000}'")
    for job in (small, big):
        await here.site.submit(job)
    assert "max_rss_bytes" not in (await here.ended(small.attempt)).usage
    assert (await here.ended(big.attempt)).usage["max_rss_bytes"] > ours + 64_000_000


async def test_a_second_submission_of_an_attempt_starts_nothing(here: RunningSite, tmp_path: Path) -> None:
    job = script(f"echo x >>{tmp_path}/seen")
    await here.site.submit(job)
    await here.site.submit(job)
    await here.ended(job.attempt)
    assert await here.site.submit(job) == job.attempt.tag
    other = order("true")
    await here.site.submit(other)
    await here.ended(other.attempt)
    assert (tmp_path / "seen").read_text() == "x\n"


async def test_jobs_wait_in_order_for_free_processors(here: RunningSite, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    first = script(f"while ! [ -e {gate} ]; do sleep 0.02; done", cpus=2)
    others = [script(f"echo {number} >>{tmp_path}/order", cpus=2) for number in range(3)]
    for job in (first, *others):
        await here.site.submit(job)
    await here.started(first.attempt)
    resource = here.site.describe()
    assert (resource.running, resource.waiting, resource.free_cpus) == (1, 3, 0)
    gate.touch()
    for job in others:
        await here.ended(job.attempt)
    assert (tmp_path / "order").read_text().split() == ["0", "1", "2"]
    assert here.site.describe().free_cpus == 2


async def test_only_jobs_that_nobody_talks_to_give_way_to_other_work(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", settings=replace(QUICK, nice=7))
    await here.start()
    try:
        jobs = [script("sleep 600"), script("sleep 600", interactive=True)]
        for job in jobs:
            await here.site.submit(job)
        pids = [(await here.started(job.attempt)).pid for job in jobs]
        assert await eventually(lambda: os.getpriority(os.PRIO_PROCESS, pids[0]) == min(os.nice(0) + 7, 19))
        assert os.getpriority(os.PRIO_PROCESS, pids[1]) == os.nice(0)
        for job in jobs:
            await here.site.cancel(job.attempt)
            await here.ended(job.attempt)
    finally:
        await here.close()


async def test_more_processors_than_there_are_is_refused(here: RunningSite) -> None:
    with pytest.raises(SiteRefused, match="this site has 2"):
        await here.site.submit(order("true", cpus=3))


async def test_an_argument_no_program_can_get_is_refused(here: RunningSite) -> None:
    with pytest.raises(SiteRefused):
        await here.site.submit(order("true", "a\0b"))
    with pytest.raises(SiteRefused, match="too long"):
        await here.site.submit(order("true", "x" * 200_000))


async def test_input_files_are_copies(here: RunningSite, tmp_path: Path) -> None:
    content = tmp_path / "content"
    content.write_text("#!/bin/sh\necho changed >>data; cat data\n")
    inputs = (InputFile("run me.sh", content, True), InputFile("data", content, False))
    job = order("./run me.sh", inputs=inputs)
    await here.site.submit(job)
    assert (await here.ended(job.attempt)).exit_code == 0
    assert here.text(job.attempt).endswith("changed\n")
    assert content.read_text().endswith("cat data\n")


async def test_a_lost_input_file_is_a_failed_download(here: RunningSite, tmp_path: Path) -> None:
    job = order("true", inputs=(InputFile("data", tmp_path / "gone", False),))
    await here.site.submit(job)
    ended = await here.ended(job.attempt)
    assert (ended.failure, ended.exit_code) == ("download", None)
    assert "data" in ended.reason
    assert here.site.describe().free_cpus == 2


async def test_output_can_be_read_while_the_job_runs(here: RunningSite, tmp_path: Path) -> None:
    job = script(f"echo early; while ! [ -e {tmp_path}/gate ]; do sleep 0.02; done; echo late")
    await here.site.submit(job)
    await eventually(lambda: here.text(job.attempt) == "early\n")
    assert not here.ends(job.attempt)
    (tmp_path / "gate").touch()
    await here.ended(job.attempt)
    assert here.text(job.attempt) == "early\nlate\n"


async def test_a_starter_killed_outright_is_a_lost_job(here: RunningSite) -> None:
    job = script("sleep 600 & sleep 600")
    await here.site.submit(job)
    await here.started(job.attempt)
    os.kill(here.starter(job.attempt), signal.SIGKILL)
    ended = await here.ended(job.attempt)
    assert (ended.failure, ended.exit_code) == ("lost", None)
    assert not here.left()


async def test_a_program_killed_outright_is_told_with_its_signal(here: RunningSite) -> None:
    job = order("sleep", "600")
    await here.site.submit(job)
    os.kill((await here.started(job.attempt)).pid, signal.SIGKILL)
    ended = await here.ended(job.attempt)
    assert (ended.exit_code, ended.signal, ended.failure) == (None, 9, "")


async def test_a_flood_ends_with_its_reason_and_can_be_read(tmp_path: Path) -> None:
    here = RunningSite(
        tmp_path / "site", settings=LocalSettings(file_limit=3_072_000, kill_grace=0.5, guard_interval=0.05)
    )
    await here.start()
    jobs = [order("yes"), script('trap "" XFSZ; while :; do yes; done 2>/dev/null')]
    for job in jobs:
        await here.site.submit(job)
    for job in jobs:
        assert (await here.ended(job.attempt)).failure == "output-limit"
        assert (await here.site.open_path(job.attempt, "std.out")).stat().st_size == 3_072_000
    await here.close()


async def test_no_path_leads_out_of_the_job(here: RunningSite, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    job = script(
        f"ln -s {tmp_path}/secret link; ln -s / root; mkfifo pipe; mkdir d; echo x >d/ok; ln -s d/ok inner"
    )
    await here.site.submit(job)
    await here.ended(job.attempt)
    assert [file.path for file in await here.site.files(job.attempt)] == ["d/ok", "std.err", "std.out"]
    for path in (
        "link",
        "root/etc/passwd",
        "../started",
        "/etc/passwd",
        "pipe",
        "d",
        "",
        ".",
        "d/../../order",
        "a\0b",
    ):
        with pytest.raises(NotFound):
            await here.site.open_path(job.attempt, path)
    with pytest.raises(NotFound):
        await here.site.open_path(Component("no", 1), "std.out")
    assert (await here.site.open_path(job.attempt, "d/ok")).read_text() == "x\n"


async def test_odd_names_are_listed_and_found(here: RunningSite) -> None:
    job = order("python3", "-c \"open(b'a\\xff\\nb','w').write('1'); open('-x ü','w')\"")
    await here.site.submit(job)
    assert (await here.ended(job.attempt)).exit_code == 0
    names = [file.path for file in await here.site.files(job.attempt)]
    assert names == ["-x ü", "a\\xff\nb", "std.err", "std.out"]
    assert (await here.site.open_path(job.attempt, names[1])).read_text() == "1"


async def test_files_stay_until_they_are_forgotten(here: RunningSite) -> None:
    job = script("mkdir closed; echo x >closed/y; chmod 0 closed")
    await here.site.submit(job)
    await here.ended(job.attempt)
    assert await here.site.files(job.attempt)
    await here.site.forget([job.attempt])
    assert await here.site.files(job.attempt) == []
    assert not (here.directory / "attempts" / job.attempt.tag).exists()


async def test_a_missing_output_is_named(here: RunningSite) -> None:
    job = order("true", outputs=("result.csv", "std.out"))
    await here.site.submit(job)
    assert (await here.ended(job.attempt)).reason == "Not produced: result.csv."


async def test_the_site_describes_itself_in_glue(here: RunningSite) -> None:
    resource = here.site.describe()
    assert resource.attributes["GlueCEStateStatus"] == "Production"
    assert resource.attributes["GlueHostFreeCPUs"] == resource.total_cpus == 2
    assert resource.attributes["GlueHostMainMemoryRAMSize"] > 0
    assert resource.ce.startswith("localhost:2119/jobmanager-")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Where attempts lie: a small file system."""
    with mounted(tmp_path / "disk") as disk:
        yield disk


@pytest.mark.root
@pytest.mark.expected_log("would have to find out anew how it stands: .*No space left on device")
async def test_a_job_that_filled_the_disk_can_be_canceled(small_disk: Path) -> None:
    site = RunningSite(small_disk)
    await site.start()
    one = script("cat /dev/zero >fill; sleep 600")
    await site.site.submit(one)
    await eventually(lambda: os.statvfs(small_disk).f_bfree == 0)
    await site.site.cancel(one.attempt)
    ended = await site.ended(one.attempt)
    assert (ended.failure, site.site.capacity.free) == ("killed", site.site.capacity.cpus)
    await site.close()


@pytest.mark.root
def test_an_order_for_which_there_is_no_room_is_not_kept_in_part(small_disk: Path) -> None:
    one = script("true", environment=(("LONG", "x" * 200_000),))
    room = os.statvfs(small_disk)
    (small_disk / "fill").write_bytes(bytes(room.f_bfree * room.f_bsize - 100_000))
    directory = AttemptDirectory(small_disk, one.attempt.tag)
    with pytest.raises(OSError, match="No space left"):
        directory.make(one)
    assert directory.order() is None


@pytest.mark.root
@pytest.mark.expected_log("would have to find out anew how it stands: .*No space left on device")
async def test_what_cannot_be_begun_on_a_full_disk_ends_and_the_next_one_runs(small_disk: Path) -> None:
    site = RunningSite(small_disk / "site", cpus=1)
    await site.start()
    gate = small_disk / "gate"
    first, second = script(f"until [ -e {gate} ]; do sleep 0.05; done"), script("exit 7")
    for one in (first, second):
        await site.site.submit(one)
    await eventually(lambda: site.starts(first.attempt))
    gate.touch()
    used = os.statvfs(small_disk)
    # Room for what the first one leaves, and for no file more.
    names = f"remount,nr_inodes={used.f_files - used.f_ffree + 1}"
    subprocess.run(["mount", "-o", names, str(small_disk)], check=True)
    assert (await site.ended(first.attempt)).exit_code == 0
    assert (await site.ended(second.attempt)).failure == "starter"
    assert site.site.capacity.free == 1
    subprocess.run(["mount", "-o", "remount,nr_inodes=1000", str(small_disk)], check=True)
    third = script("exit 8")
    await site.site.submit(third)
    assert (await site.ended(third.attempt)).exit_code == 8
    await site.close()
