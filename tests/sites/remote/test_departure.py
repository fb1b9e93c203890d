"""A site that is left for good: its jobs end and nothing of the broker stays, or it is told what does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import processes_of
from tests.sites.remote.breaking import BreakingFar, hand_over
from tests.sites.remote.failing_transport import Breaking
from tests.sites.remote.far_site import MARK, Far, script, spec_for
from tests.sites.remote.host_far import HostFar, released
from tests.sites.remote.host_far import script as host_script
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
DEAF = "trap : TERM; echo on >there; while :; do sleep 0.1; done"


async def test_jobs_that_run_and_wait_are_ended_and_nothing_stays(cluster: Cluster, tmp_path: Path) -> None:
    far = await Far(spec_for(cluster, tmp_path / "site"), tmp_path / "here").start()
    running, held = script(DEAF), script("sleep 600")
    await hand_over(far, running)
    await far.started(running.attempt)
    await far.site.submit(held)
    assert await far.site.leave() == ""
    assert not cluster.present()
    assert list((tmp_path / "site").iterdir()) == []
    await far.site.close()


async def test_an_attempt_whose_starter_died_does_not_keep_the_directory(folder: Path) -> None:
    far = await HostFar(folder).start()
    one = await released(far, host_script("exit 0"))
    await far.ended(one.attempt)
    await eventually(lambda: not far.place(one).exists())
    (far.place(one) / "claim").mkdir(parents=True)
    assert await far.site.leave() == ""
    assert list((folder / "site").iterdir()) == []
    await far.site.close()


async def test_of_a_host_the_queue_goes_with_the_last_one_who_uses_it(folder: Path) -> None:
    far, other = await HostFar(folder).start(), await HostFar(folder, "t2").start()
    one = await released(other, host_script("sleep 600"))
    await other.started(one.attempt)
    assert await far.site.leave() == ""
    assert [place.name for place in (folder / "site").iterdir()] == ["t2"]
    assert processes_of(folder / "site" / "t2")
    assert await other.site.leave() == ""
    assert not processes_of(folder / "site" / "t2")
    assert not (folder / ".crossdesk").exists()
    for site in (far, other):
        await site.site.close()


async def test_what_a_living_starter_needs_stays_and_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = await HostFar(folder).start()
    one = await released(far, host_script("sleep 600"))
    await far.started(one.attempt)
    monkeypatch.setattr("broker_core.sites.remote.decommission._REMOVING", 1.0)
    # The queue has forgotten it, as a batch system may.
    for place in (folder / ".crossdesk").glob(f"queue/*/running/*{one.attempt.tag}"):
        place.unlink()
    left = await far.site.leave()
    assert one.attempt.tag in left
    assert str(folder / "site" / MARK) in left
    assert far.place(one).is_dir()
    await far.site.close()


@pytest.mark.parametrize("mode", ["down", "hung"])
async def test_of_a_silent_site_it_is_told_what_may_be_left_and_where(
    cluster: Cluster, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.sites.remote.decommission._SILENT", 0.5)
    breaking = Breaking()
    far = await BreakingFar(spec_for(cluster, tmp_path / "site"), tmp_path / "here", breaking).start()
    one = script("sleep 600")
    await hand_over(far, one)
    await far.started(one.attempt)
    setattr(breaking, mode, True)
    left = await far.site.leave()
    assert str(tmp_path / "site" / MARK) in left
    assert f"{MARK}." in left
    assert cluster.present()
    setattr(breaking, mode, False)
    await far.site.close()
