"""The whole way of a remote site to a real A-REX and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.sites.arc.session_directories import SESSION_LIFETIME
from broker_core.sites.contract import InputFile, SiteRefused
from broker_core.sites.link import LinkState
from broker_core.wire.sites import SiteSpec
from tests.running import processes_of
from tests.sites.remote.far_site import Far, order, script
from tests.testbed.arc import ARex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
CE = "grid:443/jobmanager-arc-fork"


async def test_jobs_run_are_cancelled_and_outlive_broker_and_site(
    arex: ARex, spec: SiteSpec, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nsort <'in put' | tr a-z A-Z >result.txt\necho done\nexit 3\n")
    data = tmp_path / "data"
    data.write_text("b\na\n")
    inputs = (InputFile("run", program, True), InputFile("in put", data, False))
    quick = order("./run", inputs=inputs, outputs=("*.txt", "none"), ce=CE)
    endless = script("sleep 3000", ce=CE)
    slow = script("echo begun; while [ ! -e go-on ]; do sleep 0.2; done; echo over", ce=CE)
    lost = script("echo never", ce="grid:443/jobmanager-arc-nosuch")
    far = await Far(spec.model_copy(update={"poll_interval": 0.3}), tmp_path / "here").start()
    ids = [await far.site.submit(one) for one in (quick, endless, slow)]
    with pytest.raises(SiteRefused, match="nosuch"):
        await far.site.submit(lost)
    assert not far.notices
    for one in (quick, endless, slow):
        await far.site.confirm(one.attempt)

    ended = await far.ended(quick.attempt)
    assert (ended.exit_code, ended.failure) == (3, "")
    assert "none" in ended.reason
    assert await far.text(quick.attempt) == "done\n"
    assert await far.text(quick.attempt, "result.txt") == "A\nB\n"
    assert len(far.starts(quick.attempt)) == 1

    assert (await far.started(endless.attempt)).pid > 0
    await far.site.cancel(endless.attempt)
    assert (await far.ended(endless.attempt)).failure == "killed"

    await far.started(slow.attempt)
    await far.says(slow.attempt, "begun\n")
    far = await far.again([(slow.attempt, None)])
    await far.started(slow.attempt)
    arex.kill()
    folder = arex.session(ids[-1]) / "job"
    assert _runs(folder)
    await eventually(lambda: far.site.link.state is LinkState.RETRYING, what="the loss is noticed")
    (folder / "go-on").touch()
    assert not far.ends(slow.attempt)
    assert arex.resume()
    far.site.connect_now()
    ended = await far.ended(slow.attempt)
    assert (ended.exit_code, ended.failure) == (0, "")
    assert await far.text(slow.attempt) == "begun\nover\n"
    assert [one.exit_code for one in far.ends(slow.attempt)] == [0]
    await eventually(lambda: not _runs(folder), what="nothing of it is left")
    await far.site.close()


def _runs(folder: Path) -> bool:
    return bool(processes_of(folder))


async def test_what_stays_in_a_session_directory_is_listed_fetched_and_goes_with_it(
    arex: ARex, spec: SiteSpec, tmp_path: Path
) -> None:
    far = await Far(spec.model_copy(update={"poll_interval": 0.3}), tmp_path / "here").start()
    one = script("mkdir d; echo 1 >named; echo 22 >d/other; echo 3 >third", outputs=("named",), ce=CE)
    id = await far.site.submit(one)
    await far.site.confirm(one.attempt)
    assert (await far.ended(one.attempt)).failure == ""
    left = await far.site.left(one.attempt)
    assert {file.path: file.size for file in left.files} == {"d/other": 3, "third": 2}
    assert left.goes is not None
    assert left.goes - left.since == SESSION_LIFETIME
    await far.site.fetch_left(one.attempt, ["d/other"])
    assert await far.text(one.attempt, "d/other") == "22\n"
    assert arex.session(id).exists()
    await far.site.forget_left(one.attempt, [])
    await eventually(lambda: not arex.session(id).exists(), what="the session directory is gone")
    await far.site.close()
