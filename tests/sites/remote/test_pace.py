"""How soon a remote site is looked at again."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.sites.link import LinkEvent
from broker_core.sites.remote import attempt_monitor
from broker_core.sites.remote.settings import pause
from tests.sites.remote.host_far import HostFar, released, script
from tests.waiting import eventually


def test_what_was_just_begun_is_looked_at_soon_and_then_as_usual() -> None:
    pauses, since = [], 0.0
    while since < 10.0:
        pauses.append(pause(2.0, since, since, slowest=30.0, lease=0.0))
        since += pauses[-1]
    assert pauses[:2] == [0.5, 0.5]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 2.0
    assert len(pauses) < 10


@pytest.mark.parametrize(
    ("usual", "since_act", "since_change", "lease", "expected"),
    [
        (2.0, math.inf, 0.0, 0.0, 2.0),
        (2.0, math.inf, 600.0, 0.0, 12.0),
        (2.0, math.inf, 1e6, 0.0, 30.0),
        (0.1, 0.0, 0.0, 0.0, 0.1),
        (60.0, 0.0, 0.0, 0.0, 15.0),
        (600.0, math.inf, 1e6, 0.0, 600.0),
        (600.0, math.inf, 1e6, 60.0, 15.0),
    ],
)
def test_the_owner_of_a_site_says_how_often_it_is_looked_at_and_leases_are_renewed_in_time(
    usual: float, since_act: float, since_change: float, lease: float, expected: float
) -> None:
    assert pause(usual, since_act, since_change, slowest=30.0, lease=lease) == expected


@pytest.mark.cluster
async def test_a_site_that_is_there_again_is_looked_at_at_once(folder: Path) -> None:
    far = await HostFar(folder, poll_interval=3600.0).start()
    one = await released(far, script("sleep 600"))
    # A busy machine begins it later than looks come by themselves.
    await eventually(lambda: far.site.poll_now() or far.starts(one.attempt))
    far.breaking.down = True
    far.site.poll_now()
    await eventually(lambda: "A look at the jobs failed" in far.log())
    far.breaking.down = False
    calls = far.breaking.calls
    far.site.link.transition(LinkEvent.LOST, "cut")
    far.site.link.transition(LinkEvent.ANSWERED)
    await eventually(lambda: far.breaking.calls > calls)
    await far.site.close()


@pytest.mark.cluster
async def test_the_start_of_an_interactive_job_is_looked_for_though_looks_are_rare(
    folder: Path, tmp_path: Path
) -> None:
    far = await HostFar(folder, poll_interval=3600.0).start()
    gate = tmp_path / "gate"
    before = await released(far, script(f"while ! [ -e {gate} ]; do sleep 0.02; done"))
    await eventually(lambda: far.site.poll_now() or far.starts(before.attempt))
    one = await released(far, script("sleep 600", interactive=True))
    calls = far.breaking.calls
    await eventually(lambda: far.breaking.calls > calls + 5, what="somebody waits for it")
    gate.touch()
    await eventually(lambda: far.site.poll_now() or far.starts(one.attempt))
    await far.site.close()


@pytest.mark.cluster
async def test_what_is_wanted_of_jobs_does_not_wait_for_a_look_that_is_not_due(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_monitor, "BURST", 3600.0)
    far = await HostFar(folder, poll_interval=3600.0).start()
    one = await released(far, script("sleep 600"))
    await far.site.cancel(one.attempt)
    await eventually((far.place(one) / "cancel").exists)
    # The next look is waited for by now.
    other = await released(far, script("touch began; sleep 600"))
    await eventually((far.place(other) / "job" / "began").exists)
    await far.site.cancel(other.attempt)
    await eventually((far.place(other) / "cancel").exists)
    await far.site.close()


@pytest.mark.cluster
async def test_the_end_of_the_last_payload_is_looked_for_at_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = await HostFar(folder).start()
    gate = tmp_path / "gate"
    one = await released(far, script(f"while ! [ -e {gate} ]; do sleep 0.02; done"))
    await far.started(one.attempt)
    monkeypatch.setattr(attempt_monitor, "BURST", 3600.0)
    monkeypatch.setattr(attempt_monitor, "pause", lambda *_: 3600.0)
    calls = far.breaking.calls
    await eventually(lambda: far.breaking.calls > calls, what="the last look that comes by itself")
    gate.touch()
    await eventually((far.place(one) / "ended").exists)
    far.site.payloads_ended(last=True)
    await far.ended(one.attempt)
    await far.site.close()


@pytest.mark.cluster
async def test_the_start_of_a_glidein_is_looked_for_though_looks_are_rare(folder: Path) -> None:
    far = await HostFar(folder, poll_interval=3600.0).start()
    one = await released(far, replace(script("sleep 600"), glidein=True))
    await far.started(one.attempt)
    await far.site.close()
