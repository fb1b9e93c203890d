"""Torn and zeroed ends are cut, damage in the middle is named, repair loses nothing silently (case 5)."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from broker_core.bookkeeping.check import check
from broker_core.bookkeeping.repair import LOST_FILE, QUARANTINE_FILE, repair
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.errors import CrossDeskError, NotFound, StateDirectoryTaken, StoreDamaged
from broker_core.jobs.transitions import EventType
from tests.bookkeeping.made import INPUT, SHA, TEXT, first, life, open_store, step, submission

LOG = STORE_FILE + "-wal"


async def _crashed_copy(directory: Path, copy: Path, jobs: int = 30) -> list[int]:
    """A store as a power cut leaves it: the log not yet copied. Returns the log's length per commit."""
    store, lengths = open_store(directory), []
    for _ in range(jobs):
        for entry in life(store):
            await store.append([entry])
            lengths.append((directory / LOG).stat().st_size)
    shutil.copytree(directory, copy, ignore=shutil.ignore_patterns("*-shm", "*.lock"))
    store.close()
    return lengths


async def _survivors(directory: Path) -> list[int]:
    assert check(directory) == []
    store = open_store(directory)
    events = await store.events_after(0)
    store.close()
    return [event.position for event in events]


async def test_a_torn_or_zeroed_end_of_the_log_is_cut(tmp_path: Path, soak: bool) -> None:
    lengths = await _crashed_copy(tmp_path / "whole", tmp_path / "crashed")
    whole, chance = (tmp_path / "crashed" / LOG).read_bytes(), random.Random(5)
    for number in range(400 if soak else 24):
        cut, torn = chance.randrange(len(whole)), tmp_path / f"torn{number}"
        shutil.copytree(tmp_path / "crashed", torn)
        tail = (b"", bytes(len(whole) - cut), chance.randbytes(len(whole) - cut))[number % 3]
        (torn / LOG).write_bytes(whole[:cut] + tail)
        expected = sum(length <= cut for length in lengths)
        survivors = await _survivors(torn)
        assert survivors == list(range(1, len(survivors) + 1))
        assert len(survivors) >= expected
        shutil.rmtree(torn)


async def _closed_store(directory: Path) -> tuple[list[str], str]:
    """Jobs that ended and one live job, all submitted with files; the store is closed."""
    store = open_store(directory)
    lives = [life(store) for _ in range(20)]
    await store.submit(submission([one[0] for one in lives], "key-00001"))
    await store.append([entry for one in lives for entry in one[1:]])
    waiting = first(store)
    await store.submit(submission([waiting], "key-00002"))
    store.close()
    return [one[0].event.job for one in lives], waiting.event.job


def _change(directory: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(directory / STORE_FILE) as connection:
        assert connection.execute(statement, values).rowcount == 1
    connection.close()


CHANGES = {
    "reason": "UPDATE events SET reason = 'other' WHERE position = ?",
    "time": "UPDATE events SET time = time + 1 WHERE position = ?",
    "type of value": "UPDATE events SET seq = 'x' WHERE position = ?",
    "broken text": "UPDATE events SET details = CAST(x'7bff7d' AS TEXT) WHERE position = ?",
    "checksum": "UPDATE events SET checksum = x'00' WHERE position = ?",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_event_is_named_when_opening_and_taken_out_by_repair(
    tmp_path: Path, change: str
) -> None:
    jobs, waiting = await _closed_store(tmp_path)
    store = open_store(tmp_path)
    (event,) = [event for event in await store.events_of(jobs[4]) if event.seq == 3]
    store.close()
    _change(tmp_path, CHANGES[change], event.position)
    with pytest.raises(StoreDamaged) as told:
        open_store(tmp_path)
    assert told.value.place == f"event at position {event.position}, job {jobs[4]}"
    assert "crossdesk broker repair" in told.value.remedy
    assert told.value.place in {finding.place for finding in check(tmp_path)}
    repaired = repair(tmp_path, host="here", pid=1)
    assert repaired.quarantined == [jobs[4]]
    assert repaired.kept == 20
    assert repaired.copy is not None
    lines = (repaired.copy / QUARANTINE_FILE).read_text().splitlines()
    assert [json.loads(line)[1] for line in lines] == [jobs[4]] * 6
    assert check(tmp_path) == []
    store = open_store(tmp_path)
    assert [record.id for record in store.live()] == [waiting]
    assert await store.job(jobs[4]) is None
    assert await store.files_of(jobs[5]) == list(INPUT)
    assert await store.description(SHA) == TEXT
    assert store.receipt("ann", "key-00001") is not None
    store.close()


async def test_a_missing_event_is_found(tmp_path: Path) -> None:
    jobs, _ = await _closed_store(tmp_path)
    _change(tmp_path, "DELETE FROM events WHERE job = ? AND seq = 4", jobs[0])
    assert {finding.job for finding in check(tmp_path)} == {jobs[0]}
    assert repair(tmp_path, host="here", pid=1).quarantined == [jobs[0]]


async def test_missing_last_events_are_found_by_the_row(tmp_path: Path) -> None:
    jobs, _ = await _closed_store(tmp_path)
    _change(tmp_path, "DELETE FROM events WHERE job = ? AND seq = 6", jobs[0])
    assert [finding.place for finding in check(tmp_path)] == [f"job {jobs[0]}"]
    assert repair(tmp_path, host="here", pid=1).quarantined == [jobs[0]]


@pytest.mark.parametrize("state", ["Done", "Wbiting"])
async def test_a_changed_row_of_a_live_job_is_named_and_made_again_from_its_events(
    tmp_path: Path, state: str
) -> None:
    _, waiting = await _closed_store(tmp_path)
    _change(tmp_path, "UPDATE jobs SET name = ? WHERE id = ?", state, waiting)
    with pytest.raises(StoreDamaged) as told:
        open_store(tmp_path)
    assert waiting in told.value.place
    repaired = repair(tmp_path, host="here", pid=1)
    assert repaired.quarantined == []
    store = open_store(tmp_path)
    assert [(record.id, record.name) for record in store.live()] == [(waiting, "true")]
    assert await store.files_of(waiting) == list(INPUT)
    store.close()


async def test_a_row_with_another_kind_of_nothing_is_found(tmp_path: Path) -> None:
    jobs, _ = await _closed_store(tmp_path)
    _change(tmp_path, "UPDATE jobs SET interactive = x'' WHERE id = ?", jobs[0])
    assert [finding.job for finding in check(tmp_path)] == [jobs[0]]


async def test_bit_flips_anywhere_are_found_or_harmless(tmp_path: Path, soak: bool) -> None:
    await _closed_store(tmp_path / "whole")
    whole, chance = (tmp_path / "whole" / STORE_FILE).read_bytes(), random.Random(11)
    content = sorted(_contents(tmp_path / "whole"))
    for number in range(1500 if soak else 60):
        place, bad = chance.randrange(len(whole)), tmp_path / f"bad{number}"
        flipped = bytearray(whole)
        flipped[place] ^= 1 << chance.randrange(8)
        bad.mkdir()
        (bad / STORE_FILE).write_bytes(flipped)
        findings = check(bad)
        if not findings:
            assert sorted(_contents(bad)) == content
        else:
            assert repair(bad, host="here", pid=1).copy is not None
            assert check(bad) == []
            open_store(bad).close()
        shutil.rmtree(bad)


def _contents(directory: Path) -> list[str]:
    """Events and rows as text."""
    connection = sqlite3.connect(directory / STORE_FILE)
    rows = [repr(row) for table in ("events", "jobs") for row in connection.execute(f"SELECT * FROM {table}")]
    connection.close()
    return rows


@pytest.mark.parametrize("start", [0, 4096, 40_000])
async def test_overwritten_pages_are_told_with_the_command_that_repairs(tmp_path: Path, start: int) -> None:
    await _closed_store(tmp_path)
    path = tmp_path / STORE_FILE
    content = path.read_bytes()
    path.write_bytes(content[:start] + bytes(30_000) + content[start + 30_000 :])
    assert check(tmp_path)
    if start < 8192:
        with pytest.raises(StoreDamaged) as told:
            open_store(tmp_path)
        assert "crossdesk broker repair" in told.value.remedy
    repaired = repair(tmp_path, host="here", pid=1)
    assert repaired.findings
    assert check(tmp_path) == []
    open_store(tmp_path).close()


async def test_a_whole_store_is_left_as_it_is(tmp_path: Path) -> None:
    await _closed_store(tmp_path)
    before = (tmp_path / STORE_FILE).read_bytes()
    repaired = repair(tmp_path, host="here", pid=1)
    assert (repaired.findings, repaired.copy) == ([], None)
    assert (tmp_path / STORE_FILE).read_bytes() == before


async def test_a_store_in_use_is_checked_but_not_repaired(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.append([first(store)])
    assert check(tmp_path) == []
    with pytest.raises(StateDirectoryTaken):
        repair(tmp_path, host="here", pid=1)
    store.close()


def test_without_a_store_there_is_nothing_to_check(tmp_path: Path) -> None:
    for work in (lambda: check(tmp_path), lambda: repair(tmp_path, host="here", pid=1)):
        with pytest.raises(NotFound):
            work()


async def test_a_live_job_without_its_list_of_files_is_not_run_without_them(tmp_path: Path) -> None:
    _, waiting = await _closed_store(tmp_path)
    _change(tmp_path, "UPDATE filesets SET files = replace(files, 'data', 'date')")
    assert waiting in {finding.job for finding in check(tmp_path)}
    assert repair(tmp_path, host="here", pid=1).quarantined == [waiting]
    assert check(tmp_path) == []


async def test_a_changed_description_is_found(tmp_path: Path) -> None:
    await _closed_store(tmp_path)
    _change(tmp_path, "UPDATE descriptions SET text = 'Executable = 1;'")
    assert [finding.place for finding in check(tmp_path)] == [f"table descriptions, {SHA}"]


async def test_an_emptied_store_is_no_new_beginning(tmp_path: Path) -> None:
    await _closed_store(tmp_path)
    (tmp_path / STORE_FILE).write_bytes(b"")
    with pytest.raises(StoreDamaged, match="lost its tables"):
        open_store(tmp_path)
    assert check(tmp_path)
    assert repair(tmp_path, host="here", pid=1).copy is not None
    store = open_store(tmp_path)
    assert store.live() == []
    store.close()


@pytest.mark.parametrize("way", ["emptied", "gone"])
async def test_a_lost_store_is_told_with_what_still_tells_of_its_jobs(tmp_path: Path, way: str) -> None:
    directory, attempts = tmp_path / "store", tmp_path / "sites" / "local" / "attempts"
    jobs, waiting = await _closed_store(directory)
    for number, job in enumerate(jobs[:3], 1):
        (attempts / f"{job}.{number}" / "job").mkdir(parents=True)
    (directory / "damaged-1").mkdir()
    shutil.copy(directory / STORE_FILE, directory / "damaged-1")
    if way == "gone":
        (directory / STORE_FILE).unlink()
    else:
        (directory / STORE_FILE).write_bytes(b"")
    assert check(directory)
    done = repair(directory, host="here", pid=1)
    assert (done.emptied, done.kept, set(done.lost)) == (True, 0, {*jobs, waiting})
    aside = str(directory / "damaged-1" / STORE_FILE)
    assert done.lost[jobs[1]] == [f"{attempts}/{jobs[1]}.2", aside]
    assert done.copy is not None
    lines = (done.copy / LOST_FILE).read_text().splitlines()
    assert {json.loads(line)["job"] for line in lines} == set(done.lost)
    assert check(directory) == []
    open_store(directory).close()


async def test_jobs_whose_events_are_all_gone_are_taken_out_by_name(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    jobs, waiting = await _closed_store(directory)
    with sqlite3.connect(directory / STORE_FILE) as connection:
        connection.execute("DROP TABLE events")
    connection.close()
    done = repair(directory, host="here", pid=1)
    assert (done.emptied, done.kept, done.lost) == (False, 0, {})
    assert set(done.quarantined) == {*jobs, waiting}


async def test_a_purged_job_is_not_lost_though_a_folder_of_it_stays(tmp_path: Path) -> None:
    directory, attempts = tmp_path / "store", tmp_path / "sites" / "local" / "attempts"
    store = open_store(directory)
    entries = [life(store), life(store)]
    await store.append([entry for one in entries for entry in one])
    await store.append([step(store, entries[0][-1].record, EventType.PURGED)])
    store.close()
    for one in entries:
        (attempts / f"{one[0].event.job}.1").mkdir(parents=True)
    _change(directory, "UPDATE jobs SET name = 'other'")
    done = repair(directory, host="here", pid=1)
    assert (done.findings != [], done.kept, done.lost) == (True, 1, {})


async def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_bytes(b"not a store at all" * 1000)
    with pytest.raises(CrossDeskError) as told:
        open_store(tmp_path)
    assert told.value.code == "store_damaged"
