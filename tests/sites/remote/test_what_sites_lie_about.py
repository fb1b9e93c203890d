"""Sites that forget, answer late or not at all: only the Job Starter's own marks prove an end (case 10)."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.worker.markers import read_started
from tests.running import processes_of
from tests.sites.remote.far_site import MARK, QUICK, Far, script, spec_for
from tests.testbed.slurm import Cluster, Slurm
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


def place(far: Far, tag: str) -> Path:
    return Path(far.spec.directory) / MARK / "attempts" / tag


async def running(far: Far, text: str = "until [ -e end ]; do sleep 0.05; done") -> tuple[str, object]:
    one = script(text)
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    return one.attempt.tag, one.attempt


async def test_an_end_without_a_marker_is_lost_but_not_at_once(far: Far, cluster: Cluster) -> None:
    tag, attempt = await running(far)
    for pid in processes_of(place(far, tag)):
        with contextlib.suppress(ProcessLookupError):  # it ended with one of those before it
            os.kill(pid, signal.SIGKILL)
    ended = await far.ended(attempt)  # type: ignore[arg-type]
    assert (ended.failure, ended.exit_code) == ("lost", None)
    assert "no sign of life" in ended.reason


async def test_a_job_that_ended_before_its_starter_began_is_told_apart(far: Far, cluster: Cluster) -> None:
    one = script("echo never")
    id = await far.site.submit(one)
    cluster.run("scancel", id)
    assert (await far.ended(one.attempt)).failure == "starter"


async def test_a_job_that_the_batch_system_forgot_runs_on_and_is_brought_home(
    cluster: Cluster, tmp_path: Path
) -> None:
    # Many times what passes between two signs of life, which a busy machine delays.
    settings = replace(QUICK, patience=10.0)
    far = await Far(spec_for(cluster, tmp_path / "site"), tmp_path / "here", settings).start()
    tag, attempt = await running(far, f"until [ -e {tmp_path}/end ]; do sleep 0.05; done; echo alive")
    real = far.site._adapter._system  # type: ignore[attr-defined]
    beats = place(far, tag) / "beat"

    class Forgetful(type(real)):  # type: ignore[misc]
        def listed(self, out: str) -> list[object]:
            return []

    far.site._adapter._system = Forgetful()  # type: ignore[attr-defined]
    enough = float(read_started(place(far, tag)).uptime) + settings.patience + 4
    await eventually(
        lambda: float(beats.read_text() or 0) > enough, what=lambda: f"it lives on; {far.notices} {far.log()}"
    )
    assert not far.ends(attempt)  # type: ignore[arg-type]
    (tmp_path / "end").touch()
    assert (await far.ended(attempt)).exit_code == 0  # type: ignore[arg-type]
    assert await far.text(attempt) == "alive\n"  # type: ignore[arg-type]
    await far.site.close()


async def test_what_the_batch_system_forgot_can_still_be_canceled(far: Far) -> None:
    tag, attempt = await running(far, "sleep 600")
    real = far.site._adapter._system  # type: ignore[attr-defined]

    class Forgetful(type(real)):  # type: ignore[misc]
        def listed(self, out: str) -> list[object]:
            return []

        def cancel(self, ids: object) -> str:
            return "true"

    far.site._adapter._system = Forgetful()  # type: ignore[attr-defined]
    await far.site.cancel(attempt)  # type: ignore[arg-type]
    ended = await far.ended(attempt)  # type: ignore[arg-type]
    assert ended.failure == "killed"
    await eventually(lambda: not processes_of(place(far, tag)))


async def test_a_controller_that_is_killed_for_a_while_ends_nothing(slurm: Slurm, tmp_path: Path) -> None:
    # A cluster of its own: a killed controller forgets its latest jobs and gives their numbers again.
    cluster = slurm.clusters["b"]
    far = await Far(spec_for(cluster, tmp_path / "site"), tmp_path / "here").start()
    tag, attempt = await running(far)
    cluster.kill_controller()
    try:
        await eventually(lambda: "does not answer" in far.log())
        (place(far, tag) / "job" / "end").touch()
        assert (await far.ended(attempt)).exit_code == 0, "markers are enough"  # type: ignore[arg-type]
    finally:
        cluster.start_controller()
        await eventually(cluster.ready)
        await far.site.close()


async def test_a_batch_system_that_was_restarted_still_has_its_jobs(far: Far, cluster: Cluster) -> None:
    tag, attempt = await running(far)
    waiting = script("echo waited")
    await far.site.submit(waiting)
    cluster.kill_controller(signal.SIGTERM)
    cluster.start_controller()
    await eventually(cluster.ready)
    await far.site.confirm(waiting.attempt)
    ended = await far.ended(waiting.attempt)
    assert ended.exit_code == 0, (ended, cluster.completed()[-3:], cluster.present())
    (place(far, tag) / "job" / "end").touch()
    assert (await far.ended(attempt)).exit_code == 0  # type: ignore[arg-type]


async def test_jobs_of_others_with_odd_names_hide_no_job(far: Far, cluster: Cluster) -> None:
    for name in ("two\nlines", "bar|s", "\x85\u2028", "t1.x\nRUNNING|None|n|1|t1.fake.1"):
        cluster.run("sbatch", "--hold", f"--job-name={name}", "-o/dev/null", "--wrap=true")
    assert (await far.run(script("echo seen; exit 3"))).exit_code == 3
    assert "squeue printed" not in far.log()
