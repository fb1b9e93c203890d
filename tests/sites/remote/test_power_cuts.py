"""The power fails here: what was removed at the site is on this machine's disk (case 1)."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.sites.remote.records import RemoteRecords
from tests.bookkeeping.disks import real_disk
from tests.sites.remote.host_far import HostFar, released, script
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.root]
_SHUT_DOWN, _AS_IT_IS = 0x8004587D, 2
"""FS_IOC_SHUTDOWN, and that nothing is written before, as when the power fails."""


@pytest.fixture
def disk(folder: Path) -> Iterator[Path]:
    """Where output is kept here: a file system of its own."""
    with real_disk(folder / "here-t1", 16) as place:
        yield place


def cut_power(disk: Path) -> None:
    """What is not on the disk is lost."""
    place = os.open(disk, os.O_RDONLY)
    try:
        fcntl.ioctl(place, _SHUT_DOWN, struct.pack("I", _AS_IT_IS))
    finally:
        os.close(place)


async def test_what_the_site_was_told_to_remove_is_here_after_a_power_cut(folder: Path, disk: Path) -> None:
    far = await HostFar(folder).start()
    jobs = [await released(far, script(f"echo said {code}; exit {code}")) for code in range(3)]
    await eventually(lambda: not any(far.place(one).exists() for one in jobs), what="the site is cleared")
    cut_power(disk)
    await far.site.close()
    subprocess.run(["umount", str(disk)], check=True)
    subprocess.run(["mount", "-o", "loop", str(disk.with_suffix(".img")), str(disk)], check=True)
    records = RemoteRecords(disk)
    for code, one in enumerate(jobs):
        ended = records.end(one.attempt)
        assert ended is not None, "the end is not here"
        assert ended.exit_code == code
        assert Path(records.output(one.attempt), "std.out").read_text() == f"said {code}\n"


async def test_what_this_machine_does_not_keep_stays_at_the_site_until_it_is_purged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(records: RemoteRecords) -> None:
        raise OSError(errno.EIO, "Input/output error", "disk")

    monkeypatch.setattr(RemoteRecords, "settle", failing)
    far = await HostFar(folder).start()
    one = await released(far, script("echo said"))
    assert (await far.ended(one.attempt)).exit_code == 0
    await eventually(lambda: "does not keep output: Input/output error" in far.log())
    assert (far.place(one) / "job" / "std.out").read_text() == "said\n"
    await far.site.forget([one.attempt])
    assert not far.place(one).exists()
    await far.site.close()


@pytest.mark.expected_log("/over cannot be read, and counts as missing")
async def test_an_end_that_a_power_cut_tore_is_asked_for_anew(folder: Path) -> None:
    far = await HostFar(folder).start()
    one = await released(far, script("echo said; exit 3"))
    assert (await far.ended(one.attempt)).exit_code == 3
    await far.site.close()
    records = RemoteRecords(far.folder)
    Path(records.output(one.attempt)).with_name("over").write_bytes(b"\0" * 40)
    other = script("exit 4")
    again = HostFar(folder)
    await again.start([(one.attempt, None), (other.attempt, other)])
    assert (await again.ended(one.attempt)).failure in ("", "lost")
    await again.site.confirm(other.attempt)
    assert (await again.ended(other.attempt)).exit_code == 4
    await again.site.close()
