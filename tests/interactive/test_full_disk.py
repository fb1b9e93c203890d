"""A node whose disk is full: the program waits, memory does not fill up, and no byte is lost."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest

from broker_core.worker.agent import StatusReport
from broker_core.worker.agent_settings import CONTACT, leave_contact
from tests.bookkeeping.disks import small_disk
from tests.interactive.pair import Bench, Screen
from tests.interactive.terminals import SHELL
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


def fill(folder: Path) -> Path:
    """Take all the room of a disk."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(65536))
    with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x")
    return filler


async def test_an_agent_that_finds_a_full_disk_is_reached_as_soon_as_there_is_room(made: Bench) -> None:
    attempt = made.folder / "attempt"
    with small_disk(attempt, 1):
        filler = fill(attempt)
        await made.start_agent(SHELL)
        await eventually(lambda: (made.job / f"{CONTACT}.part").exists())
        filler.unlink()
        screen = Screen(made.desk())
        await screen.shows(b"ready")
        await eventually(lambda: screen.session.status.writer)
        screen.session.write(b"exit 3\n")
        await screen.ended()
        assert screen.session.status.exit_code == 3


@pytest.mark.expected_log(r"The broker cannot be told of the agent now: .*No space left")
async def test_what_an_agent_could_not_say_on_a_full_disk_follows_and_it_dials_on(made: Bench) -> None:
    attempt, job = made.folder / "attempt", made.folder / "attempt" / "job"
    with small_disk(attempt, 1):
        job.mkdir()
        leave_contact(job, {"key": "k"})
        filler = fill(attempt)
        said = StatusReport(job, {"key": "k"}, 0.02)
        said.say("no place answers " * 300)
        said.say("")
        filler.unlink()
        last = json.dumps({"key": "k", "trouble": ""})
        await eventually(lambda: (job / CONTACT).read_text().endswith(f"\n{last}\n"))
