"""Jobs through the whole way of a remote site, at a real Grid Engine and at a host without a batch system."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.sites.batch.host import QUEUE
from broker_core.sites.contract import LaunchOrder
from broker_core.wire.sites import SiteSpec
from tests.sites.remote.far_site import Far, order
from tests.testbed import grid_engine
from tests.waiting import eventually


@pytest.fixture(params=[pytest.param("sge", marks=pytest.mark.cluster), "shell"])
async def far(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Far]:
    """A site that works, of each kind."""
    fields = {"name": "far", "kind": request.param, "poll_interval": 0.1, "directory": str(tmp_path / "site")}
    if request.param == "sge":
        cell = request.getfixturevalue("grid_engine_cell")
        spec = SiteSpec.model_validate(fields | {"environment": cell.environment})
    else:
        spec = SiteSpec.model_validate(fields | {"environment": {"CROSSDESK_SLOTS": "4"}})
    site = await Far(spec, tmp_path / "here").start()
    yield site
    await site.site.close()


def _script(far: Far, text: str, **more: object) -> LaunchOrder:
    queue = grid_engine.QUEUE if far.spec.kind == "sge" else QUEUE
    ce = f"far:22/jobmanager-{far.spec.kind}-{queue}"
    return order("sh", f"-c '{text}'", **{"ce": ce} | more)


async def test_a_job_runs_and_its_output_is_here_when_its_end_is_told(far: Far) -> None:
    one = _script(far, 'echo "hello"; echo trouble >&2; echo data >"a b.csv"; exit 3', outputs=("*.csv",))
    ended = await far.run(one)
    assert (ended.exit_code, ended.failure) == (3, "")
    assert await far.text(one.attempt) == "hello\n"
    assert await far.text(one.attempt, "std.err") == "trouble\n"
    assert await far.text(one.attempt, "a b.csv") == "data\n"
    assert len(far.starts(one.attempt)) == 1
    assert len(far.ends(one.attempt)) == 1


async def test_many_jobs_handed_over_together_run_once_each(far: Far, tmp_path: Path) -> None:
    jobs = [_script(far, f"echo {number} >>{tmp_path}/ran; echo {number}") for number in range(6)]
    for one in jobs:
        await far.site.submit(one)
    assert not (tmp_path / "ran").exists()
    for one in jobs:
        await far.site.confirm(one.attempt)
    for number, one in enumerate(jobs):
        assert (await far.ended(one.attempt)).exit_code == 0
        assert await far.text(one.attempt) == f"{number}\n"
    assert sorted((tmp_path / "ran").read_text().split()) == [str(number) for number in range(6)]


async def test_a_running_job_is_canceled_with_all_its_processes(far: Far, tmp_path: Path) -> None:
    text = f"sleep 300 & echo $! >{tmp_path}/child; mv {tmp_path}/child {tmp_path}/pid; wait"
    one = _script(far, text)
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    await eventually((tmp_path / "pid").exists, 60.0)
    await far.site.cancel(one.attempt)
    assert (await far.ended(one.attempt)).failure == "killed"
    child = Path("/proc", (tmp_path / "pid").read_text().strip())
    await eventually(lambda: not child.exists() or ") Z " in (child / "stat").read_text(), 30.0)


async def test_a_broker_that_comes_back_finds_its_jobs_and_starts_none_again(
    far: Far, tmp_path: Path
) -> None:
    text = f"echo ran >>{tmp_path}/ran; until [ -e {tmp_path}/go ]; do sleep 0.1; done"
    runs, waits = _script(far, text), _script(far, f"echo late >>{tmp_path}/ran")
    for one in (runs, waits):
        await far.site.submit(one)
    await far.site.confirm(runs.attempt)
    await far.started(runs.attempt)
    again = await far.again([(runs.attempt, runs), (waits.attempt, waits)])
    try:
        await again.site.confirm(waits.attempt)
        assert (await again.ended(waits.attempt)).exit_code == 0
        (tmp_path / "go").touch()
        assert (await again.ended(runs.attempt)).exit_code == 0
        assert sorted((tmp_path / "ran").read_text().split()) == ["late", "ran"]
    finally:
        await again.site.close()


async def test_what_the_site_is_like_is_told_for_each_queue(far: Far) -> None:
    await eventually(lambda: far.site.link.state.usable)
    facts = {one.ce: one.attributes for one in await far.site.look()}
    kind = far.spec.kind
    queues = {grid_engine.QUEUE, grid_engine.SHORT_QUEUE} if kind == "sge" else {QUEUE}
    assert {ce.rpartition("-")[2] for ce in facts} == queues
    assert all(int(values["GlueCEInfoTotalCPUs"]) > 0 for values in facts.values())
