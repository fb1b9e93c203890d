"""Jobs through the whole way of a remote site, at each batch system: real ones, and simulated commands."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

from broker_core.sites.contract import InputFile, LaunchOrder
from tests.running import ended as has_ended
from tests.sites.remote.far_site import Far, order
from tests.waiting import eventually


def _script(far: Far, text: str, **more: object) -> LaunchOrder:
    ce = f"far:22/jobmanager-{far.spec.kind}-{far.spec.queues[0]}"
    return order("sh", f"-c '{text}'", **{"ce": ce} | more)


async def test_a_job_runs_and_its_output_is_here_when_its_end_is_told(real_far: Far) -> None:
    one = _script(
        real_far, 'echo "hello"; echo trouble >&2; echo data >"a b.csv"; exit 3', outputs=("*.csv",)
    )
    ended = await real_far.run(one)
    assert (ended.exit_code, ended.failure) == (3, "")
    assert await real_far.text(one.attempt) == "hello\n"
    assert await real_far.text(one.attempt, "std.err") == "trouble\n"
    assert await real_far.text(one.attempt, "a b.csv") == "data\n"
    assert len(real_far.starts(one.attempt)) == 1
    assert len(real_far.ends(one.attempt)) == 1


async def test_many_jobs_handed_over_together_run_once_each(far: Far, tmp_path: Path) -> None:
    """They become an array where the batch system has arrays."""
    jobs = [_script(far, f"echo {number} >>{tmp_path}/ran; echo {number}") for number in range(5)]
    await asyncio.gather(*(far.site.submit(one) for one in jobs))
    assert not (tmp_path / "ran").exists()
    for one in jobs:
        await far.site.confirm(one.attempt)
    for number, one in enumerate(jobs):
        assert (await far.ended(one.attempt)).exit_code == 0
        assert await far.text(one.attempt) == f"{number}\n"
    assert sorted((tmp_path / "ran").read_text().split()) == [str(number) for number in range(5)]


async def test_an_input_file_is_kept_once_and_each_job_spoils_its_own(real_far: Far, tmp_path: Path) -> None:
    (tmp_path / "content").write_bytes(content := b"#!/bin/sh\nexit 0\n" + os.urandom(100_000))
    sha256 = hashlib.sha256(content).hexdigest()
    tool = InputFile("a tool", tmp_path / "content", True, sha256)
    jobs = [_script(real_far, '"./a tool" && wc -c <"a tool"; echo >"a tool"', inputs=(tool,)) for _ in "ab"]
    await asyncio.gather(*(real_far.site.submit(one) for one in jobs))
    for one in jobs:
        await real_far.site.confirm(one.attempt)
        assert (await real_far.ended(one.attempt)).exit_code == 0
        assert await real_far.text(one.attempt) == f"{len(content)}\n"
    kept = list(Path(real_far.spec.directory).glob("*/files/*"))
    assert [(path.name, path.read_bytes() == content) for path in kept] == [(sha256, True)]


async def test_a_running_job_is_canceled_with_all_its_processes(far: Far, tmp_path: Path) -> None:
    text = (
        f"setsid sleep 300 & echo $! >{tmp_path}/child; mv {tmp_path}/child {tmp_path}/pid; wait; sleep 300"
    )
    one = _script(far, text)
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    await eventually((tmp_path / "pid").exists)
    await far.site.cancel(one.attempt)
    assert (await far.ended(one.attempt)).failure == "killed"
    child = int((tmp_path / "pid").read_text())
    await eventually(lambda: has_ended(child))


async def test_a_broker_that_comes_back_finds_its_jobs_and_starts_none_again(
    real_far: Far, tmp_path: Path
) -> None:
    text = f"echo ran >>{tmp_path}/ran; until [ -e {tmp_path}/go ]; do sleep 0.1; done"
    runs, waits = _script(real_far, text), _script(real_far, f"echo late >>{tmp_path}/ran")
    for one in (runs, waits):
        await real_far.site.submit(one)
    await real_far.site.confirm(runs.attempt)
    await real_far.started(runs.attempt)
    again = await real_far.again([(runs.attempt, runs), (waits.attempt, waits)])
    try:
        await again.site.confirm(waits.attempt)
        assert (await again.ended(waits.attempt)).exit_code == 0
        (tmp_path / "go").touch()
        assert (await again.ended(runs.attempt)).exit_code == 0
        assert sorted((tmp_path / "ran").read_text().split()) == ["late", "ran"]
    finally:
        await again.site.close()


async def test_what_the_site_is_like_is_told_for_its_queue(real_far: Far) -> None:
    await eventually(lambda: real_far.site.link.usable)
    (found,) = await real_far.site.look()
    assert found.ce == f"far:22/jobmanager-{found.attributes['GlueCEInfoLRMSType']}-{real_far.spec.queues[0]}"
    assert int(found.attributes["GlueCEInfoTotalCPUs"]) > 0
    assert int(found.attributes["GlueCEStateFreeCPUs"]) >= 0
