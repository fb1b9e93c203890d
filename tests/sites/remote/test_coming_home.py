"""Output on its way home: full disks here, files that are gone, names that lead elsewhere (cases 6, 10)."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.remote.records import RemoteRecords
from broker_core.sites.shell.adapter import ShellAdapter
from tests.sites.remote.host_far import HostFar, released, script
from tests.testbed.disk import small_disk as mounted
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def ended_unheard(far: HostFar) -> LaunchOrder:
    """A job that wrote a line, which was read, and ended while there was no way to the site."""
    one = await released(far, script("echo said; until [ -e go ]; do sleep 0.05; done; echo more"))
    await far.started(one.attempt)
    await far.says(one.attempt, "said\n")
    far.breaking.down = True
    (far.place(one) / "job" / "go").touch()
    await eventually((far.place(one) / "ended").exists)
    return one


async def test_output_that_the_site_removed_is_told_as_missing(folder: Path) -> None:
    far = await HostFar(folder).start()
    one = await ended_unheard(far)
    (far.place(one) / "job" / "std.out").unlink()
    far.breaking.down = False
    ended = await far.ended(one.attempt)
    assert ended.failure == "upload"
    assert "std.out" in ended.reason
    await far.site.close()


async def test_a_file_without_a_byte_does_not_travel(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched, fetch = list[str](), ShellAdapter.fetch

    async def recorded(adapter: ShellAdapter, tag: str, names: Sequence[str], into: Path) -> None:
        fetched.extend(names)
        await fetch(adapter, tag, names, into)

    monkeypatch.setattr(ShellAdapter, "fetch", recorded)
    far = await HostFar(folder).start()
    one = script("echo said; mkdir d; : >d/none", outputs=("d/none",))
    assert (await far.run(one)).failure == ""
    assert fetched == ["std.out"]
    found = [await far.text(one.attempt, name) for name in ("std.out", "std.err", "d/none")]
    assert found == ["said\n", "", ""]
    await far.site.close()


async def test_a_list_of_output_that_leads_elsewhere_touches_nothing(folder: Path) -> None:
    far = await HostFar(folder).start()
    one = await ended_unheard(far)
    outside = far.folder / "precious"
    outside.write_text("mine")
    line = f"{hashlib.sha256(b'other').hexdigest()}  ./../../../precious\nsize 5\n"
    for marker in (far.place(one) / "outputs", far.place(one).parents[1] / "news" / f"{one.attempt.tag}.o"):
        marker.write_text(line)
    far.breaking.down = False
    ended = await far.ended(one.attempt)
    assert ended.failure == "upload"
    assert outside.read_text() == "mine"
    await far.site.close()


@pytest.mark.expected_log("The end of a job of far cannot be told yet")
async def test_a_job_whose_output_failed_to_come_in_an_unforeseen_way_ends_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    far = await HostFar(folder).start()
    one = await ended_unheard(far)
    path_of, faults = RemoteRecords.output, iter([ValueError("nobody thought of this")])

    def failing(records: RemoteRecords, attempt: Component) -> str:
        for fault in faults:
            raise fault
        return path_of(records, attempt)

    monkeypatch.setattr(RemoteRecords, "output", failing)
    far.breaking.down = False
    assert (await far.ended(one.attempt)).exit_code == 0
    assert "nobody thought of this" in caplog.text + far.log()
    await far.site.close()


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """Where output is kept here: a small file system."""
    with mounted(folder / "here-t1") as disk:
        yield disk


@pytest.mark.root
async def test_output_comes_when_there_is_room_here_again(folder: Path, small_disk: Path) -> None:
    far = await HostFar(folder).start()
    one = await released(far, script("head -c 900000 /dev/zero"))
    await eventually(lambda: "No space left" in far.log())
    assert far.ends(one.attempt) == []
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    assert (await far.ended(one.attempt)).exit_code == 0
    assert len(await far.text(one.attempt)) == 900_000
    await far.site.close()
