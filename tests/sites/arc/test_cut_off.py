"""What a killed broker left half done at a real A-REX, and what A-REX says while it is busy itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.arc.description import GO, LAUNCH, RELEASE
from broker_core.sites.transport.contract import LinkLost
from broker_core.wire.sites import SiteSpec
from tests.sites.arc.conftest import Adapting
from tests.sites.arc.launches import launch
from tests.testbed.arc import ARex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_a_launch_script_that_arrived_in_part_is_sent_again_before_anything_is_released(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    one = launch(tmp_path, "part", "true")
    (id,) = map(str, await (await adapting(spec, "part")).submit([one]))
    script = arex.session(id) / LAUNCH
    whole = script.read_bytes()
    arex.send_part(id, LAUNCH, whole, 100)

    adapter = await adapting(spec, "part")
    assert (await adapter.poll(["part.1"])).missing == {"part.1"}
    await adapter.release(["part.1"])
    assert not (arex.session(id) / GO).exists()
    assert await adapter.submit([one]) == [id]
    assert script.read_bytes() == whole
    assert (await adapter.poll(["part.1"])).attempts["part.1"].id == id
    assert (arex.session(id) / GO).exists(), "only now"
    await adapter.remove(["part.1"])


async def test_a_release_that_did_not_arrive_in_full_is_none(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    one = launch(tmp_path, "part", "true")
    (id,) = map(str, await (await adapting(spec, "go")).submit([one]))
    arex.send_part(id, GO, RELEASE, 1)
    adapter = await adapting(spec, "go")
    assert (await adapter.poll(["part.1"])).attempts["part.1"].seen is AttemptStatus.HELD
    await adapter.release(["part.1"])
    assert (await adapter.poll(["part.1"])).attempts["part.1"].seen is not AttemptStatus.HELD
    await adapter.remove(["part.1"])


async def test_while_its_record_is_written_anew_a_job_is_neither_refused_nor_forgotten(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    one = launch(tmp_path, "busy", "true")
    (id,) = map(str, await (await adapting(spec, "busy")).submit([one]))
    script = arex.session(id) / LAUNCH
    script.write_bytes(b"")  # its sending was cut off
    adapter = await adapting(spec, "busy")
    await adapter.submit([])
    with arex.writing_anew(id), pytest.raises(LinkLost, match="does not know the job"):
        await adapter.submit([one])
    assert await adapter.submit([one]) == [id]
    with arex.writing_anew(id), pytest.raises(LinkLost, match="does not remove busy"):
        await adapter.remove(["busy.1"])
    await adapter.remove(["busy.1"])
    await eventually(lambda: not arex.session(id).exists(), what="A-REX removes it")
    await adapter.remove(["busy.1"])


async def test_what_a_new_process_is_to_remove_it_looks_for_first(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    one = launch(tmp_path, "left", "true")
    (id,) = map(str, await (await adapting(spec, "left")).submit([one]))
    await (await adapting(spec, "left")).remove(["left.1"])
    await eventually(lambda: not arex.session(id).exists(), what="A-REX removes it")
