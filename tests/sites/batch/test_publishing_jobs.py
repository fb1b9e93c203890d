"""What jobs at clusters publish: read live through the site, and brought home with their output."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.errors import NotFound
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import FILE
from broker_core.sites.contract import LaunchOrder
from tests.sites.remote.far_site import Far, order
from tests.waiting import eventually
from tests.worker.publishing import is_whole, program, read


async def _live(far: Far, one: LaunchOrder) -> Recording:
    try:
        return read(await far.site.open_path(one.attempt, FILE))
    except NotFound:
        return Recording()


@pytest.mark.parametrize("bed", [pytest.param("slurm", marks=pytest.mark.cluster), "shell"], indirect=True)
async def test_what_jobs_publish_is_read_live_and_comes_home(far: Far, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    ce = f"far:22/jobmanager-{far.spec.kind}-{far.spec.queues[0]}"
    jobs = {
        kind: order(program(kind, tmp_path, gate), str(gate), ce=ce, outputs=("std.out",))
        for kind in ("python", "c", "sh")
    }
    for one in jobs.values():
        await far.site.submit(one)
        await far.site.confirm(one.attempt)
    for one in jobs.values():

        async def published(one: LaunchOrder = one) -> bool:
            return "loss" in (await _live(far, one)).curves

        await far.started(one.attempt)
        await eventually(published)
    gate.touch()
    for kind, one in jobs.items():
        assert (await far.ended(one.attempt)).exit_code == 0
        assert is_whole(await _live(far, one), table=kind != "c")
