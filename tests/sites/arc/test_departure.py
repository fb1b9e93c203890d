"""An ARC site that is left for good: its jobs end, and their sessions go."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.wire.sites import SiteSpec
from tests.running import processes_of
from tests.sites.arc.conftest import Adapting
from tests.sites.arc.launches import launch
from tests.sites.remote.far_site import Far, script
from tests.testbed.arc import ARex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_jobs_that_run_and_wait_are_ended_and_their_sessions_go(
    arex: ARex, spec: SiteSpec, tmp_path: Path
) -> None:
    far = await Far(spec.model_copy(update={"poll_interval": 0.3}), tmp_path / "here").start()
    running, held = (script("sleep 3000", ce="grid:443/jobmanager-arc-fork") for _ in range(2))
    ids = [await far.site.submit(one) for one in (running, held)]
    await far.site.confirm(running.attempt)
    await far.started(running.attempt)
    session = arex.session(ids[0])
    assert processes_of(session / "job")
    assert await far.site.leave() == ""
    assert not processes_of(session / "job")
    await eventually(lambda: not any(arex.session(one).exists() for one in ids), what="A-REX removes them")
    await far.site.close()


async def test_their_sessions_have_time_to_go_after_the_last_job_ended(
    arex: ARex, spec: SiteSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = await Far(spec.model_copy(update={"poll_interval": 0.3}), tmp_path / "here").start()
    one = script("true", ce="grid:443/jobmanager-arc-fork")
    id = await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    await eventually((arex.session(id) / "ended").exists, what="it has run, and A-REX may not know")
    monkeypatch.setattr("broker_core.sites.remote.decommission._ENDING", 0.0)
    assert await far.site.leave() == ""
    assert not arex.session(id).exists()
    await far.site.close()


async def test_a_job_that_no_poll_showed_is_ended_too(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    adapter = await adapting(spec)
    (id,) = map(str, await adapter.submit([launch(tmp_path, "unseen", "true")]))
    with arex.writing_anew(id):
        assert not (await adapter.poll(["unseen.1"])).attempts
    assert await adapter.leave([]) == ["unseen.1"]

    async def left() -> bool:
        return await adapter.leave([]) == []

    await eventually(left, what="A-REX has nothing of it")
    assert not arex.session(id).exists()


async def test_what_is_not_listed_at_one_time_is_not_taken_to_be_gone(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    adapter = await adapting(spec)
    (id,) = map(str, await adapter.submit([launch(tmp_path, "amid", "true")]))
    with arex.writing_anew(id):
        leaving = asyncio.create_task(adapter.leave([]))
        done, _ = await asyncio.wait({leaving}, timeout=1.0)
    assert not done
    assert await leaving == ["amid.1"]
    await adapter.remove(["amid.1"])
