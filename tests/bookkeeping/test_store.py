"""What is given to the store is there again, and rows agree with events."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from broker_core.bookkeeping.replay import replayed_rows, stored_rows
from broker_core.errors import BadRequest, Conflict
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from tests.bookkeeping.made import INPUT, SHA, TEXT, first, life, open_store, step, submission


async def test_a_submission_is_there_after_reopening(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entries = [first(store, parameter=str(n)) for n in range(300)]
    new = submission(entries, "key-00001")
    await store.submit(new)
    store.close()
    store = open_store(tmp_path)
    assert store.live() == [entry.record for entry in entries]
    assert store.receipt("ann", "key-00001") == new.receipt
    assert store.receipt("bob", "key-00001") is None
    assert await store.description(SHA) == TEXT
    assert await store.files_of(entries[7].event.job) == list(INPUT)
    assert await store.files_in_use() == {"ab" * 32}
    assert store.position == entries[-1].event.position
    assert store.epoch == 2
    store.close()


async def test_many_single_appends_become_durable_in_order(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    lives = [life(store, 1000.0 + n) for n in range(50)]
    futures = [store.append([one[number]]) for number in range(6) for one in lives]
    await asyncio.gather(*futures)
    assert store.live() == []
    for entries in lives:
        assert await store.events_of(entries[0].event.job) == [entry.event for entry in entries]
        assert await store.job(entries[0].event.job) == entries[-1].record
    assert await store.states("ann") == {"Done": 50}
    rows = await store._readers.read(stored_rows)
    assert rows == await store._readers.read(replayed_rows)
    assert len(rows) == 50
    store.close()


async def test_a_key_is_taken_once_and_others_in_its_group_are_kept(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    one, two, three = ([first(store)] for _ in range(3))
    results = await asyncio.gather(
        store.submit(submission(one, "same-key")),
        store.submit(submission(two, "same-key")),
        store.submit(submission(three, "other-key")),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), Conflict, type(None)]
    assert await store.job(one[0].event.job) == one[0].record
    assert await store.job(three[0].event.job) == three[0].record
    assert await store.job(two[0].event.job) is None
    assert await store.events_of(two[0].event.job) == []
    store.close()


async def test_an_entry_at_fault_fails_alone(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    good, bad, later = first(store), first(store), first(store)
    bad.event.details["x"] = object()
    results = await asyncio.gather(
        *(store.append([entry]) for entry in (good, bad, later)), return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None), TypeError, type(None)]
    assert store.error is None
    assert (await store.jobs_page()).columns["id"] == [later.event.job, good.event.job]
    store.close()


async def test_pages_run_from_the_newest_job_to_the_oldest(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entries = [first(store, time=5000.0 - n) for n in range(25)]
    await store.submit(submission(entries))
    await store.append([step(store, entries[3].record, EventType.ACCEPTED)])
    seen: list[str] = []
    after = ""
    while True:
        page = await store.jobs_page("ann", after, 10, columns=("id", "interactive", "state"))
        assert (page.total, page.position) == (0 if after else 25, store.position)
        assert list(page.columns) == ["id", "interactive", "state"]
        assert set(page.columns["interactive"]) == {False}
        seen += page.columns["id"]
        after = page.next
        if not after:
            break
    assert seen == [entry.event.job for entry in reversed(entries)]
    waiting = await store.jobs_page("ann", states=[JobState.WAITING])
    assert waiting.columns["id"] == [entries[3].event.job]
    assert waiting.total == 1
    assert (await store.jobs_page("bob")).total == 0
    store.close()


@pytest.mark.parametrize("wrong", [{"columns": ("id", "files")}, {"after": "x"}, {"after": "1;drop"}])
async def test_a_page_that_cannot_be_is_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    store = open_store(tmp_path)
    with pytest.raises(BadRequest):
        await store.jobs_page(**wrong)  # type: ignore[arg-type]
    store.close()


async def test_events_are_followed_from_a_position_by_owner(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    mine, others = [first(store) for _ in range(5)], [first(store, owner="bob") for _ in range(5)]
    await store.append(mine + others)
    assert await store.events_after(2, "ann") == [entry.event for entry in mine[2:]]
    assert await store.events_after(3, "", 4) == [entry.event for entry in (mine + others)[3:7]]
    assert await store.events_after(10) == []
    store.close()


async def test_documents_are_kept_by_owner_and_name(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.save_document("ann", "workspace", "{}")
    await store.save_document("ann", "workspace", '{"open":[]}')
    assert await store.document("ann", "workspace") == '{"open":[]}'
    assert await store.document("bob", "workspace") is None
    store.close()


async def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    directory = tmp_path / "state" / "store"
    before = os.umask(0)
    try:
        store = open_store(directory)
        await store.append([first(store)])
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
        store.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {"broker.sqlite", "broker.sqlite-wal", "broker.lock", "reserve"} <= set(modes)
    assert set(modes.values()) == {0o600}


async def test_text_that_no_utf8_can_hold_is_kept_with_escapes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entry = first(store, name="caf\udce9", parameter="a\0b")
    await store.append([entry])
    store.close()
    store = open_store(tmp_path)
    (record,) = store.live()
    assert (record.name, record.parameter) == ("caf\\udce9", "a\0b")
    store.close()


async def test_clocks_that_jump_change_no_order(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    times = [5000.0, 1400.0, 8600.0, 0.0, 5001.5]
    entries = [first(store, time) for time in times]
    await store.append(entries)
    await store.append([step(store, entries[0].record, EventType.ACCEPTED, time=1.0)])
    store.close()
    store = open_store(tmp_path)
    assert [record.submitted for record in store.live()] == times
    assert [event.position for event in await store.events_after(0)] == [1, 2, 3, 4, 5, 6]
    store.close()
