"""Kill -9 while appending: every acknowledged event is there, and rows equal the replay (case 1)."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.bookkeeping.check import check
from tests.bookkeeping.made import open_store

_APPEND = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.bookkeeping.made import LIFE, first, open_store, step, submission

point, count = sys.argv[2], int(sys.argv[3])
passed = 0

def fail(name):
    global passed
    passed += name == point
    if passed == count:
        os.kill(os.getpid(), signal.SIGKILL)

def acknowledge(*positions):
    os.write(1, b"".join(b"%d\\n" % position for position in positions))

async def one(store, number):
    entry = first(store, 1000.0 + number)
    await store.submit(submission([entry]))
    acknowledge(entry.event.position)
    for kind, more in LIFE:
        entry = step(store, entry.record, kind, 1001.0 + number, **more)
        await store.append([entry])
        acknowledge(entry.event.position)

async def main():
    store = open_store(Path(sys.argv[1]), fail=fail)
    for start in range(0, 100000, 40):
        await asyncio.gather(*(one(store, start + n) for n in range(40)))

asyncio.run(main())
"""


def _run_until_killed(directory: Path, point: str, count: int, lines: int = 0) -> set[int]:
    """Append in a child that dies at the `count`-th pass of `point`, or is killed after `lines`."""
    words = [sys.executable, "-c", _APPEND, str(directory), point, str(count)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        acknowledged = [child.stdout.readline() for _ in range(lines)]
        if lines:
            child.kill()
        acknowledged += child.stdout.readlines()
    assert child.returncode == -signal.SIGKILL
    return {int(line) for line in acknowledged if line.endswith(b"\n")}


async def _verify(directory: Path, acknowledged: set[int]) -> None:
    assert check(directory) == []
    store = open_store(directory)
    events = await store.events_after(0, "", 1_000_000)
    assert acknowledged <= {event.position for event in events}
    page = await store.jobs_page(limit=1_000_000)
    assert set(page.columns["id"]) == {event.job for event in events}
    store.close()


POINTS = [
    ("store.opened", 1),
    ("store.before-commit", 1),
    ("store.after-commit", 1),
    ("store.before-commit", 30),
    ("store.after-commit", 30),
    ("store.before-commit:job.submitted", 2),
    ("store.after-commit:job.matched", 3),
    ("store.before-commit:job.done", 5),
]


@pytest.mark.parametrize(("point", "count"), POINTS)
async def test_what_was_acknowledged_outlives_a_kill_at_a_fail_point(
    tmp_path: Path, point: str, count: int
) -> None:
    acknowledged = _run_until_killed(tmp_path, point, count)
    await _verify(tmp_path, acknowledged)


async def test_what_was_acknowledged_outlives_kills_at_random_instants(tmp_path: Path, soak: bool) -> None:
    chance = random.Random(2)
    acknowledged: set[int] = set()
    for _ in range(60 if soak else 4):
        acknowledged |= _run_until_killed(tmp_path, "", -1, lines=chance.randrange(1, 3000))
        await _verify(tmp_path, acknowledged)
    assert len(acknowledged) > 100


async def test_kills_while_opening_lose_nothing(tmp_path: Path) -> None:
    acknowledged = _run_until_killed(tmp_path, "", -1, lines=500)
    for _ in range(3):
        _run_until_killed(tmp_path, "store.opened", 1)
    await _verify(tmp_path, acknowledged)
