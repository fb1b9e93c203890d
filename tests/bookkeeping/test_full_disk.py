"""A disk without room: nothing is lost, nothing is accepted that is not kept (reliability case 6)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.bookkeeping.faults import StorageCondition
from broker_core.bookkeeping.replay import replayed_rows, stored_rows
from broker_core.bookkeeping.store import Store
from broker_core.errors import StorageFull
from broker_core.jobs.transitions import EventType
from tests.bookkeeping.disks import fill, make_read_only, make_room, real_disk, small_disk
from tests.bookkeeping.made import first, open_store, step, submission
from tests.waiting import LONG, eventually, within


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 24) as point:
        yield point


async def _rows_equal_replay(store: Store) -> bool:
    return await store._readers.read(stored_rows) == await store._readers.read(replayed_rows)


async def _until_full(store: Store, seen: list[StorageCondition]) -> None:
    """Submit until the store has noticed that the disk is full."""
    while not seen:
        try:
            await store.submit(submission([first(store)]))
        except StorageFull:
            await eventually(lambda: bool(seen))


@pytest.mark.root
async def test_a_full_disk_refuses_submissions_and_keeps_the_events_of_jobs(disk: Path) -> None:
    store, seen = open_store(disk / "state"), []
    store.listen(condition=lambda condition, _: seen.append(condition))
    jobs = [first(store) for _ in range(20)]
    await store.submit(submission(jobs))
    fill(disk)
    await _until_full(store, seen)
    assert seen == [StorageCondition.FULL]
    refused = submission([first(store)], "refused-key")
    with pytest.raises(StorageFull) as told:
        await store.submit(refused)
    assert told.value.place == str(disk / "state")
    accepted = [step(store, job.record, EventType.ACCEPTED) for job in jobs]
    waiting = [store.append([entry]) for entry in accepted]
    make_room(disk)
    await within(asyncio.gather(*waiting), LONG)
    await eventually(lambda: store.condition is StorageCondition.OK)
    assert store.receipt("ann", "refused-key") is None
    await store.submit(refused)
    assert seen == [StorageCondition.FULL, StorageCondition.OK]
    assert await _rows_equal_replay(store)
    store.close()


@pytest.mark.root
async def test_the_reserve_takes_events_while_the_disk_is_full(disk: Path) -> None:
    store, seen = open_store(disk / "state"), []
    store.listen(condition=lambda condition, _: seen.append(condition))
    job = first(store)
    await store.submit(submission([job]))
    fill(disk)
    await _until_full(store, seen)
    assert not (disk / "state" / "reserve").exists()
    entry = step(store, job.record, EventType.ACCEPTED)
    await within(store.append([entry]), LONG)
    assert store.condition is StorageCondition.FULL
    assert await store.job(job.event.job) == entry.record
    store.close()


@pytest.mark.root
async def test_events_beyond_the_reserve_wait_in_memory_in_their_order(disk: Path) -> None:
    store, seen = open_store(disk / "state"), []
    store.listen(condition=lambda condition, _: seen.append(condition))
    job = first(store)
    await store.submit(submission([job]))
    fill(disk)
    await _until_full(store, seen)
    last, waiting = job, []
    for _ in range(40):
        last = step(store, last.record, EventType.CANCEL_REQUESTED, reason="x" * 100_000)
        waiting.append(store.append([last]))
    await eventually(lambda: store.condition is StorageCondition.FULL)
    await asyncio.wait(waiting, timeout=1)
    assert not all(future.done() for future in waiting)
    make_room(disk)
    await within(asyncio.gather(*waiting), LONG)
    store.close()
    store = open_store(disk / "state")
    assert [record.seq for record in store.live() if record.id == job.event.job] == [41]
    assert await _rows_equal_replay(store)
    store.close()


@pytest.mark.root
async def test_closing_on_a_full_disk_tells_what_was_not_kept(disk: Path) -> None:
    store, seen = open_store(disk / "state"), []
    store.listen(condition=lambda condition, _: seen.append(condition))
    job = first(store)
    await store.submit(submission([job]))
    fill(disk)
    await _until_full(store, seen)
    entry = step(store, job.record, EventType.CANCEL_REQUESTED, reason="x" * 3_000_000)
    lost = store.append([entry])
    store.close()
    with pytest.raises(StorageFull):
        await within(lost, LONG)
    make_room(disk)
    store = open_store(disk / "state")
    assert job.record in store.live()
    store.close()


@pytest.mark.root
async def test_a_broker_can_start_again_on_a_full_disk_to_watch_its_jobs(disk: Path) -> None:
    store = open_store(disk / "state")
    job = first(store)
    await store.submit(submission([job]))
    store.close()
    fill(disk)
    store = open_store(disk / "state")
    assert store.live() == [job.record]
    assert store.condition is StorageCondition.FULL
    with pytest.raises(StorageFull):
        await store.submit(submission([first(store)]))
    await within(store.append([step(store, job.record, EventType.ACCEPTED)]), LONG)
    make_room(disk)
    await eventually(lambda: store.condition is StorageCondition.OK)
    store.close()


@pytest.mark.root
async def test_opening_on_a_full_disk_is_told_and_leaves_no_lock(disk: Path) -> None:
    fill(disk)
    with pytest.raises(StorageFull):
        open_store(disk)
    make_room(disk)
    store = open_store(disk)
    assert store.epoch == 1
    store.close()


@pytest.mark.root
@pytest.mark.expected_log("stays: .*Read-only file system")
async def test_a_file_system_made_read_only_takes_nothing_and_is_told_as_such(tmp_path: Path) -> None:
    with real_disk(tmp_path / "disk", 16) as point:
        store, seen = open_store(point / "state"), []
        store.listen(condition=lambda condition, _: seen.append(condition), fatal=seen.append)
        job = first(store)
        await store.submit(submission([job]))
        make_read_only(point)
        with pytest.raises(StorageFull) as told:
            await store.submit(submission([first(store)]))
        assert told.value.code == "storage_read_only"
        assert seen == [StorageCondition.READ_ONLY]
        waiting = store.append([step(store, job.record, EventType.ACCEPTED)])
        assert await store.job(job.event.job) == job.record
        store.close()
        with pytest.raises(StorageFull):
            await waiting
        with pytest.raises(StorageFull):
            open_store(point / "state")


async def test_a_store_that_may_not_grow_counts_as_full(tmp_path: Path) -> None:
    store, seen = open_store(tmp_path), []
    store.listen(condition=lambda condition, _: seen.append(condition))
    job = first(store)
    await store.submit(submission([job]))
    store._connection.execute("PRAGMA max_page_count=1")
    with pytest.raises(StorageFull):
        await store.submit(submission([first(store, parameter="x" * 400_000)]))
    store._connection.execute("PRAGMA max_page_count=1000000")
    await eventually(lambda: store.condition is StorageCondition.OK)
    assert store.live() == []
    assert (await store.jobs_page()).total == 1
    store.close()
