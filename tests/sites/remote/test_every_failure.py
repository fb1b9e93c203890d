"""The way to the site breaks at the first call, the second, and so on: nothing is lost or runs twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.transport.contract import LinkLost
from tests.sites.remote.breaking import BreakingFar, hand_over
from tests.sites.remote.checker import check
from tests.sites.remote.failing_transport import Breaking
from tests.sites.remote.far_site import MARK, Far, script, spec_for
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


def noting(folder: Path, wall_limit: float | None = None) -> LaunchOrder:
    """A job that notes that it ran."""
    one = script("exit 0", outputs=("said",), wall_limit=wall_limit)
    text = f"echo {one.attempt.tag} >>{folder}/ran; echo said >said"
    return script(text, attempt=one.attempt, outputs=("said",), wall_limit=wall_limit)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_whichever_call_breaks_every_job_runs_once(
    cluster: Cluster, tmp_path: Path, after: bool, soak: bool
) -> None:
    async def broken_at(number: int) -> tuple[Far, list[Component]]:
        breaking = Breaking(range(number, number + 1), after)
        # One broker each: they do not touch each other's jobs.
        spec = spec_for(cluster, tmp_path / f"site{number}")
        far = BreakingFar(spec, tmp_path / f"here{number}", breaking, f"t{number}x")
        await far.start()
        # One of its own and an array of two.
        orders = [noting(tmp_path), noting(tmp_path), noting(tmp_path, wall_limit=600.0)]
        await asyncio.gather(*(hand_over(far, one) for one in orders))
        for one in orders:
            await far.ended(one.attempt)
        await eventually(lambda: breaking.calls > number, what="the call that breaks is reached")
        await far.site.close()
        return far, [one.attempt for one in orders]

    found = await asyncio.gather(*(broken_at(number) for number in range(1, 20 if soak else 10)))
    attempts = [attempt for _, some in found for attempt in some]
    check([far for far, _ in found], cluster, attempts, tmp_path / "ran")


async def test_a_cancel_of_what_never_arrived_is_settled_when_the_site_is_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    breaking = Breaking(down=True)
    far = await BreakingFar(spec_for(cluster, tmp_path / "site"), tmp_path / "here", breaking).start()
    one = noting(tmp_path)
    with pytest.raises(LinkLost):
        await far.site.submit(one)
    await far.site.cancel(one.attempt)
    calls = breaking.calls
    await eventually(lambda: breaking.calls > calls + 3)
    assert far.notices == []
    breaking.down = False
    assert (await far.ended(one.attempt)).failure == "killed"
    assert not cluster.present()
    await far.site.close()


@pytest.mark.parametrize("mode", ["down", "deaf"])
async def test_a_long_outage_is_no_end_of_anything(cluster: Cluster, tmp_path: Path, mode: str) -> None:
    breaking = Breaking()
    far = await BreakingFar(spec_for(cluster, tmp_path / "site"), tmp_path / "here", breaking).start()
    waiting, running = noting(tmp_path), script("until [ -e end ]; do sleep 0.05; done")
    await hand_over(far, running)
    await far.started(running.attempt)
    setattr(breaking, mode, True)
    asked = asyncio.create_task(hand_over(far, waiting))
    calls = breaking.calls
    await eventually(lambda: breaking.calls > calls + 6)
    assert not far.ends(running.attempt)
    job = Path(far.spec.directory) / MARK / "attempts" / running.attempt.tag / "job"
    (job / "end").touch()
    calls = breaking.calls
    await eventually(lambda: breaking.calls > calls + 3)
    assert not far.ends(running.attempt), "what ended meanwhile is not known"
    setattr(breaking, mode, False)
    assert (await far.ended(running.attempt)).exit_code == 0
    await asked
    assert (await far.ended(waiting.attempt)).exit_code == 0
    check([far], cluster, [waiting.attempt], tmp_path / "ran")
    await far.site.close()
