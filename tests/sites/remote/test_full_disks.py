"""A site whose disk is full: what ended there is still read, and nothing is believed to be lost (case 6)."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.sites.contract import InputFile, LaunchOrder, SiteRefused
from tests.sites.remote.host_far import HostFar, released, script
from tests.testbed.disk import small_disk as mounted
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.root]


@pytest.fixture
def disk(folder: Path) -> Iterator[Path]:
    """Where the broker's directory is at the site: a small file system."""
    with mounted(folder / "site") as place:
        yield place


def fill(disk: Path) -> None:
    """Leave no byte."""
    subprocess.run(["sh", "-c", f"cat /dev/zero >{disk}/filler"], check=False, capture_output=True)


async def ended_unheard(far: HostFar, disk: Path) -> LaunchOrder:
    """A job that ended while there was no way to the site, whose disk is full since."""
    one = await released(far, script("until [ -e go ]; do sleep 0.05; done; echo done; exit 3"))
    await far.started(one.attempt)
    far.breaking.down = True
    (far.place(one) / "job" / "go").touch()
    await eventually((far.place(one) / "ended").exists)
    fill(disk)
    return one


async def test_what_ended_is_read_though_nothing_can_be_written(folder: Path, disk: Path) -> None:
    far = await HostFar(folder).start()
    one = await ended_unheard(far, disk)
    far.breaking.down = False
    assert (await far.ended(one.attempt)).exit_code == 3
    assert await far.text(one.attempt) == "done\n"
    await far.site.close()


async def test_nothing_is_lost_for_a_broker_that_comes_back_to_a_full_disk(folder: Path, disk: Path) -> None:
    far = await HostFar(folder).start()
    one = await ended_unheard(far, disk)
    await far.site.close()
    again = HostFar(folder)
    await again.start([(one.attempt, None)])
    await eventually(lambda: "cannot be used" in again.log())
    assert not again.ends(one.attempt)
    (disk / "filler").unlink()
    assert (await again.ended(one.attempt)).exit_code == 3
    await again.site.close()


async def test_a_lease_is_renewed_though_the_disk_is_full(folder: Path, disk: Path) -> None:
    far = await HostFar(folder, lease=12.0).start()
    one = await released(far, script("sleep 17; exit 5"))
    await far.started(one.attempt)
    fill(disk)
    ended = await far.ended(one.attempt)
    assert (ended.exit_code, ended.failure) == (5, "")
    await far.site.close()


def use_up_names(disk: Path) -> None:
    """Leave room for bytes, and for no file more."""
    used = os.statvfs(disk)
    there = used.f_files - used.f_ffree
    subprocess.run(["mount", "-o", f"remount,size=8m,nr_inodes={there}", str(disk)], check=True)


async def test_without_room_for_one_more_file_jobs_are_refused_with_words(folder: Path, disk: Path) -> None:
    far = await HostFar(folder).start()
    assert (await far.run(script("true"))).exit_code == 0
    await eventually(lambda: not list(far.place(script("true")).parent.iterdir()))
    use_up_names(disk)
    with pytest.raises(SiteRefused, match=r"cannot keep the job.*No space left"):
        await far.site.submit(script("true"))
    await far.site.close()


async def test_without_room_for_one_more_file_jobs_are_canceled(folder: Path, disk: Path) -> None:
    far = await HostFar(folder).start()
    one = await released(far, script("sleep 600"))
    await far.started(one.attempt)
    use_up_names(disk)
    await far.site.cancel(one.attempt)
    ended = await far.ended(one.attempt)
    assert (ended.failure, "does not do as it is told" in far.log()) == ("killed", False)
    await far.site.close()


async def test_an_input_file_without_room_is_refused_in_words_and_leaves_nothing(
    folder: Path, disk: Path
) -> None:
    far = await HostFar(folder).start()
    path = folder / "content"
    path.write_bytes(os.urandom(30_000))
    data = InputFile("data", path, False, hashlib.sha256(path.read_bytes()).hexdigest())
    await far.run(script("true"))
    fill(disk)
    with pytest.raises(SiteRefused, match=r"cannot keep the input file data.*No space left"):
        await far.site.submit(script("cat data", inputs=(data,)))
    (disk / "filler").unlink()
    assert not list(disk.glob("*/files/*"))
    assert (await far.run(script("cmp data data", inputs=(data,)))).exit_code == 0
    await far.site.close()
