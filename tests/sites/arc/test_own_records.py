"""What A-REX says of jobs while it writes or moves its own records of them, and orders that it loses."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.arc import survey
from broker_core.wire.sites import SiteSpec
from tests.sites.arc.conftest import Adapting
from tests.sites.arc.launches import launch
from tests.testbed.arc import ARex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_the_end_of_a_job_is_seen_though_its_state_was_amid_a_move_before(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    adapter = await adapting(spec)
    (id,) = map(str, await adapter.submit([launch(tmp_path, "moved", "true")]))

    async def waits_for_files() -> bool:
        await adapter.poll(["moved.1"])
        return arex.waits_for_files(id)

    await eventually(waits_for_files)
    with arex.moving(id):
        seen = [await adapter.poll(["moved.1"]) for _ in range(100)]
    assert {polled.attempts["moved.1"].seen for polled in seen} == {AttemptStatus.HELD}
    await adapter.release(["moved.1"])

    async def ended() -> bool:
        return (await adapter.poll(["moved.1"])).attempts["moved.1"].ended.startswith(b"exit 0\n")

    await eventually(ended, what="the end is seen")
    await adapter.remove(["moved.1"])


async def test_a_job_whose_name_could_not_be_read_is_looked_at_again(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    (id,) = map(str, await (await adapting(spec)).submit([launch(tmp_path, "unnamed", "true")]))
    later = await adapting(spec)
    with arex.unnamed(id):
        assert not (await later.poll([])).attempts
    assert (await later.poll([])).attempts["unnamed.1"].id == id
    await later.remove(["unnamed.1"])


async def test_a_removal_that_was_taken_and_not_done_is_asked_for_again(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "_REMOVING", 1.0)
    adapter = await adapting(spec)
    (id,) = map(str, await adapter.submit([launch(tmp_path, "lost", "true")]))
    await adapter.release(["lost.1"])

    async def over() -> bool:
        return [one.tag for one in await adapter.leftovers("", 0.0)] == ["lost.1"]

    await eventually(over, what="it has run")
    with arex.losing_removals():
        await adapter.remove(["lost.1"])
        assert not (await adapter.poll([])).attempts, "A-REX said that it would be removed"
    assert arex.session(id).exists()
    await eventually(over, what="it counts as found anew")
    await adapter.remove(["lost.1"])
    await eventually(lambda: not arex.session(id).exists(), what="A-REX removes it")


async def test_a_removal_that_is_lost_while_a_site_is_left_is_asked_for_again(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    adapter = await adapting(spec)
    (id,) = map(str, await adapter.submit([launch(tmp_path, "left", "true")]))
    await adapter.release(["left.1"])

    async def over() -> bool:
        return [one.tag for one in await adapter.leftovers("", 0.0)] == ["left.1"]

    await eventually(over, what="it has run")
    with arex.losing_removals():
        assert await adapter.leave([]) == ["left.1"]
    assert arex.session(id).exists()

    async def left() -> bool:
        return await adapter.leave([]) == []

    await eventually(left, what="A-REX has nothing of it")
    assert not arex.session(id).exists()
