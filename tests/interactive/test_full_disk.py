"""A node whose disk is full: the program waits, memory does not fill up, and no byte is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.bookkeeping.disks import small_disk
from tests.interactive.pair import Bench, Screen
from tests.waiting import eventually

pytestmark = pytest.mark.root
SIZE = 100_000_000


def peak(pid: int) -> int:
    """Bytes of memory that a process has had at most."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) * 1024


async def test_a_program_waits_while_the_disk_is_full_and_goes_on_with_a_desk(made: Bench) -> None:
    attempt = made.folder / "attempt"
    with small_disk(attempt, 1):
        script = f"echo ready; read go; head -c {SIZE} /dev/zero; echo end"
        small = {"memory": 65536, "replay": 100_000, "max_retries": 0}
        await made.start_agent(["/bin/sh", "-c", script], mode="lines", **small)
        assert made.agent is not None
        first = Screen(made.desk())
        await first.shows(b"ready")
        await eventually(lambda: first.session.status.writer)
        before = peak(made.agent.pid)
        first.session.write(b"go\n")
        await eventually(lambda: first.session.status.unsent == 0)
        await first.session.close()
        counts: list[str] = []

        def still() -> bool:
            """The agent has read nothing for a while."""
            assert made.agent is not None
            counts.append(Path(f"/proc/{made.agent.pid}/io").read_text().split()[1])
            return len(counts) > 30 and len(set(counts[-30:])) == 1

        await eventually(lambda: os.statvfs(attempt).f_bavail == 0)
        await eventually(still)
        second = Screen(made.desk(), keep=False)
        await second.ended(60)
        assert second.sizes[1] + first.sizes[1] >= SIZE
        assert peak(made.agent.pid) - before < SIZE // 4
