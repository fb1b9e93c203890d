"""Jobs at a real A-REX. One takes it six to twenty seconds, so that each test has several."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from broker_core.sites.adapter import AttemptStatus, PollResult, Sighting
from broker_core.sites.arc.adapter import ArcAdapter
from broker_core.sites.contract import InputFile, SiteRefused
from broker_core.sites.remote.stage_out import read_outputs
from broker_core.wire.sites import SiteSpec
from broker_core.worker.markers import ended_mark, started_mark
from tests.running import processes_of
from tests.sites.arc.conftest import Adapting
from tests.sites.arc.launches import launch
from tests.testbed.arc import ARex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
LONG = 90.0


async def seen(adapter: ArcAdapter, tag: str, *states: AttemptStatus) -> Sighting:
    """Poll until an attempt is in one of these states."""

    async def look() -> Sighting | None:
        found = (await adapter.poll([tag])).attempts.get(tag)
        return found if found is not None and found.seen in states else None

    sighting: Sighting = await eventually(look, LONG, f"{tag} is {states}")
    return sighting


async def test_a_job_is_held_runs_once_and_brings_its_output_home(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    data = tmp_path / "content"
    data.write_bytes(b"\0\xff" * 1_500_000)
    script = """
        echo "$1|$2|$NAME"
        cat "data of é's $.bin" >copy
        mkdir sub; echo deep >sub/file
        setsid sleep 3000 &
        exit 7"""
    first = launch(
        tmp_path,
        "first",
        script,
        arguments="one 'two \"words\"'",
        environment=(("NAME", "with 'quotes' and $signs"),),
        inputs=(InputFile("data of é's $.bin", data, False),),
        outputs=("copy", "sub/*", "none"),
    )
    wrong = launch(tmp_path, "wrong", "true", queue="nosuch")
    held = launch(tmp_path, "held", "touch never")
    adapter = await adapting(spec)

    ids = await adapter.submit([first, wrong, held])
    assert isinstance(ids[1], SiteRefused)
    assert "nosuch" in str(ids[1])
    assert (await adapter.submit([first]))[0] == ids[0]
    polled = await adapter.poll(["first.1", "held.1", "wrong.1"])
    assert {tag: (one.seen, one.id) for tag, one in polled.attempts.items()} == {
        "first.1": (AttemptStatus.HELD, ids[0]),
        "held.1": (AttemptStatus.HELD, ids[2]),
    }
    assert polled.missing == {"wrong.1"}

    await adapter.release(["first.1"])
    await adapter.release(["first.1"])
    end = await seen(adapter, "first.1", AttemptStatus.ENDED)
    started, ended = started_mark(end.started, 0.0), ended_mark(end.ended, 0.0)
    assert started is not None
    assert ended is not None
    assert end.node == started.node != ""
    assert (ended.exit_code, ended.failure, ended.missing) == (7, "", ("none",))
    assert 0.0 < started.time <= ended.time

    proofs = read_outputs(end.outputs)
    assert set(proofs) == {"copy", "sub/file", "out", "err"}
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    (home / "copy").write_bytes(data.read_bytes()[:2_000_000])
    (home / "out").write_text("what was there before, and is longer than what comes in its place")
    await adapter.fetch("first.1", sorted(proofs), home)
    for name, proof in proofs.items():
        assert hashlib.sha256((home / name).read_bytes()).hexdigest() == proof.sha256, name
        assert (home / name).stat().st_size == proof.size
    assert (home / "out").read_text() == "one|two \"words\"|with 'quotes' and $signs\n"
    sizes = {file.path: file.size for file in await adapter.files("first.1")}
    assert sizes["copy"] == sizes["data of é's $.bin"] == 3_000_000
    await adapter.fetch("first.1", ["../ended", "/etc/passwd", "none", "sub", "sub/none"], home / "new")
    assert not list((home / "new").rglob("*.*"))
    assert not (home / "ended").exists()

    await _cancelled_while_held(adapter)
    await adapter.remove(["first.1", "held.1"])
    assert await adapter.poll(["first.1", "held.1"]) == PollResult(
        {}, missing=frozenset(("first.1", "held.1"))
    )
    await eventually(lambda: not processes_of(arex.session(str(ids[0]))), LONG, "nothing of the job is left")
    await eventually(lambda: not arex.session(str(ids[0])).exists(), LONG, "the session is removed")


async def test_all_that_a_job_made_is_listed_and_its_inputs_are_not(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    data = tmp_path / "content"
    data.write_text("sent")
    sent = (InputFile("data [1].bin", data, False),)
    adapter = await adapting(spec)
    await adapter.submit([launch(tmp_path, "all", "mkdir d; echo 1 >'d/a b'", inputs=sent, outputs=(".",))])
    await adapter.poll(["all.1"])
    await adapter.release(["all.1"])
    proofs = read_outputs((await seen(adapter, "all.1", AttemptStatus.ENDED)).outputs)
    assert {name: proof.size for name, proof in proofs.items()} == {"d/a b": 2, "out": 0, "err": 0}
    await adapter.fetch("all.1", sorted(proofs), tmp_path / "home")
    assert (tmp_path / "home" / "d" / "a b").read_text() == "1\n"
    await adapter.remove(["all.1"])


async def _cancelled_while_held(adapter: ArcAdapter) -> None:
    await adapter.cancel(["held.1"])
    end = await seen(adapter, "held.1", AttemptStatus.ENDED)
    assert (end.started, end.ended) == (b"", b"")
    assert "cancel" in end.reason


async def test_a_running_job_is_adopted_by_another_broker_process_read_live_and_cancelled(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    script = "echo alive; trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 3000' & sleep 3000; sleep 3000"
    before, stranger = await adapting(spec), await adapting(spec, "other")
    running = launch(tmp_path, "running", script)
    held = launch(tmp_path, "held", "true")
    ids = await before.submit([running, held])
    theirs = await stranger.submit([running])
    await before.release(["running.1"])
    await before.close()

    after = await adapting(spec)
    assert await after.submit([running]) == [ids[0]]
    now = await seen(after, "running.1", AttemptStatus.RUNNING)
    polled = await after.poll([])
    assert {tag: one.id for tag, one in polled.attempts.items()} == {"running.1": ids[0], "held.1": ids[1]}
    assert polled.attempts["held.1"].seen is AttemptStatus.HELD
    assert theirs[0] not in (ids[0], now.id)

    async def read() -> bool:
        if not any(file.path == "out" and file.size for file in await after.files("running.1")):
            return False
        await after.fetch("running.1", ["out"], tmp_path / "live")
        return (tmp_path / "live" / "out").read_text() == "alive\n"

    await eventually(read, LONG, "its output can be read while it runs")
    session = arex.session(now.id)
    assert processes_of(session)
    await after.cancel(["running.1", "held.1"])
    end = await seen(after, "running.1", AttemptStatus.ENDED)
    mark = ended_mark(end.ended, 0.0)
    assert mark is not None
    assert (mark.signal, mark.failure) == (9, "killed")
    await eventually(lambda: not processes_of(session), LONG, "its processes are gone")
    await after.remove(["running.1", "held.1"])
    await stranger.remove(["running.1"])


async def test_of_two_jobs_of_one_attempt_only_one_is_ever_released(
    arex: ARex, spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    one = launch(tmp_path, "twice", "echo ran")
    first, second = await adapting(spec), await adapting(spec)
    await second.submit([])  # it has looked now, and knows of nothing: as if an answer had been lost
    ids = {*await first.submit([one]), *await second.submit([one])}
    assert len(ids) == 2

    later = await adapting(spec)
    polled = await later.poll(["twice.1"])
    chosen = polled.attempts["twice.1"].id
    await later.release(["twice.1"])
    end = await seen(later, "twice.1", AttemptStatus.ENDED)
    assert end.id == chosen
    assert end.ended
    assert [id for id in map(str, ids) if (arex.session(id) / "job" / "out").exists()] == [chosen]
    await later.remove(["twice.1"])


async def test_a_job_without_its_files_is_not_taken_for_one_that_arrived(
    spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    missing = tmp_path / "missing"
    missing.write_bytes(b"content")
    one = launch(tmp_path, "half", "true", inputs=(InputFile("data", missing, False),))
    missing.unlink()
    adapter = await adapting(spec)
    (refused,) = await adapter.submit([one])
    assert isinstance(refused, SiteRefused)
    assert (await adapter.poll(["half.1"])).missing == {"half.1"}


async def test_the_site_describes_its_queues_under_the_name_of_the_site(
    arex: ARex, spec: SiteSpec, adapting: Adapting
) -> None:
    (facts,) = await (await adapting(spec)).look()
    assert facts.ce == f"grid:{arex.port}/jobmanager-arc-fork"
    assert facts.site == "grid"
    assert facts.attributes["GLUE2ManagerProductName"] == "fork"
    assert facts.attributes["GLUE2ComputingManagerTotalLogicalCPUs"] > 0
    assert facts.attributes["GLUE2ComputingShareServingState"] == "production"
    assert "GLUE2ExecutionEnvironmentMainMemorySize" not in facts.attributes
    assert "GLUE2ComputingShareFreeSlots" not in facts.static
