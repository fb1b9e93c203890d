"""An ARC site that is left for good: its jobs end, and their sessions go."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.wire.sites import SiteSpec
from tests.running import processes_of
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
