"""What is purged gives its room back to the disk, bit by bit, and others write meanwhile."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from broker_core.bookkeeping.check import check
from broker_core.bookkeeping.entries import LogEntry
from broker_core.bookkeeping.sqlite import room
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.bookkeeping.store import Store
from broker_core.jobs.transitions import EventType as E
from tests.bookkeeping.made import first, life, open_store, step
from tests.waiting import within

JOBS = 5000
RELEASED = Path(__file__).parent / "released" / "schema_2.sql"


def _size(directory: Path) -> int:
    """Bytes of the store's file and of the log of its writes."""
    names = (STORE_FILE, STORE_FILE + "-wal")
    return sum((directory / name).stat().st_size for name in names if (directory / name).exists())


async def _filled(store: Store, jobs: int = JOBS) -> list[LogEntry]:
    """Jobs that ended well; their last entries."""
    lives = [life(store) for _ in range(jobs)]
    await store.append([entry for one in lives for entry in one])
    return [one[-1] for one in lives]


async def _purge(store: Store, last: list[LogEntry]) -> None:
    for start in range(0, len(last), 500):
        part = last[start : start + 500]
        await store.append([step(store, entry.record, E.PURGED) for entry in part])
    store.tidy()


async def _until_below(directory: Path, size: float) -> None:
    end = time.monotonic() + 60
    while _size(directory) > size:
        assert time.monotonic() < end, f"{_size(directory)} bytes are still used"
        await asyncio.sleep(0.02)


async def test_room_of_purged_jobs_is_given_back_while_others_write(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    last = await _filled(store)
    full = _size(tmp_path)
    stays = first(store)
    await store.append([stays])
    await _purge(store, last)
    shrinking = asyncio.create_task(_until_below(tmp_path, full / 2))
    while not shrinking.done():
        await within(store.append([first(store)]), 10)
        await asyncio.sleep(0.1)
    await shrinking
    assert await store.job(stays.event.job) == stays.record
    store.close()
    assert check(tmp_path) == []


async def test_what_was_left_by_a_killed_broker_is_given_back_by_the_next(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    last = await _filled(store)
    await _purge(store, last)
    store.close()  # at once: hardly a slice was cut off
    full = _size(tmp_path)
    store = open_store(tmp_path)
    await _until_below(tmp_path, full / 2)
    store.close()
    assert check(tmp_path) == []


@pytest.mark.expected_log("There is no room to write .* anew")
@pytest.mark.parametrize("enough", [True, False])
async def test_a_store_of_an_earlier_version_is_written_anew_where_there_is_room(
    tmp_path: Path, enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        connection.executescript(RELEASED.read_text())
    if not enough:
        monkeypatch.setattr(room, "_ROOM", 1 << 60)
    store = open_store(tmp_path)
    assert [record.name for record in store.live()] == ["waits"]
    assert [event.type for event in await store.events_of("job2AAAAAAAAAAAAAAAAAA")] == [E.PURGED]
    last = await _filled(store)
    full = _size(tmp_path)
    await _purge(store, last)
    if enough:
        await _until_below(tmp_path, full / 2)
    store.close()
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2 if enough else 0,)
    assert check(tmp_path) == []


async def test_a_reader_in_the_middle_hinders_nobody(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    last = await _filled(store, 1500)
    with closing(sqlite3.connect(tmp_path / STORE_FILE, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM jobs").fetchone() == (1500,)
        await _purge(store, last)
        await within(store.append([first(store)]), 10)
        assert reader.execute("SELECT count(*) FROM jobs").fetchone() == (1500,)
        reader.execute("COMMIT")
    store.close()
    assert check(tmp_path) == []
