"""Jobs that differ in their value alone: one record, and nobody sees a difference."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.bookkeeping.check import check
from broker_core.bookkeeping.entries import LogEntry, NewSubmission
from broker_core.bookkeeping.repair import repair
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.bookkeeping.store import Readers, Store
from broker_core.bookkeeping.taken_out import ASIDE_FILE
from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.states import JobState
from broker_core.jobs.sweep import Sweep
from broker_core.jobs.transitions import EventType as E
from broker_core.jobs.transitions import next_state
from broker_core.wire.submission import Receipt
from tests.bookkeeping.made import INPUT, LIFE, OWNER, SHA, TEXT, first, new_id, open_store, step, submission


def _story(*kinds: E) -> tuple[JobEvent, ...]:
    """What happened to every job of a sweep."""
    fixed = {"name": "", "structure": "Normal", "interactive": False, "cpus": 1, "description": SHA}
    events: list[JobEvent] = []
    for kind in (E.SUBMITTED, E.ACCEPTED, *kinds):
        old = events[-1].new if events else None
        details = {} if events else fixed | {"parameter": "", "batch": "b"}
        events.append(
            JobEvent("", len(events) + 1, 1000.0, EventSource.UAM, kind, old, next_state(old, kind), OWNER,
                     reason=f"because {kind}", details=details)
        )  # fmt: skip
    return tuple(events)


def _sweep(count: int, *kinds: E) -> Sweep:
    values = tuple(f"v{number}" for number in range(count))
    return Sweep(
        _story(*kinds), tuple(new_id() for _ in values), tuple(f"run {one}" for one in values), values
    )


async def _keep(store: Store, sweep: Sweep) -> None:
    store.take_positions(sweep)
    receipt = Receipt(ids=list(sweep.ids), batch="b")
    new = NewSubmission(OWNER, sweep.ids[0], receipt, {SHA: TEXT}, (), sweeps=((sweep, INPUT),))
    await store.submit(new)


async def _keep_one_by_one(store: Store, sweep: Sweep) -> None:
    """The same jobs at the same places in the log, each with its own events."""
    entries: list[LogEntry] = []
    for index in range(len(sweep.ids)):
        record: JobRecord | None = None
        for event in sweep.events(index):
            record = apply(record, event)
            entries.append(LogEntry(event, record))
    store.position = sweep.last
    receipt = Receipt(ids=list(sweep.ids), batch="b")
    files = dict.fromkeys(sweep.ids, INPUT)
    await store.submit(NewSubmission(OWNER, sweep.ids[0], receipt, {SHA: TEXT}, entries, files))


async def _seen(store: Store, ids: list[str]) -> dict[str, Any]:
    """Everything that can be asked of a store."""
    pages, after = [], ""
    while True:
        page = await store.jobs_page(OWNER, after, limit=7)
        pages.append(replace(page, total=page.total))
        after = page.next
        if not after:
            break
    waiting = await store.jobs_page(limit=1000, states=[JobState.WAITING], columns=["id", "name", "position"])
    return {
        "pages": pages,
        "waiting": waiting,
        "of nobody": await store.jobs_page("somebody else"),
        "states": await store.states(),
        "statistics": await store.statistics(OWNER),
        "job": [await store.job(one) for one in ids],
        "jobs": await store.jobs([*reversed(ids), "unknown"]),
        "stories": [await store.events_of(one) for one in ids],
        "files": [await store.files_of(one) for one in ids],
        "log": await store.events_after(0),
        "part of the log": await store.events_after(store.position // 2, OWNER, 5),
        "live": [record for record in store.live() if record.id in ids],
    }


def _written(directory: Path) -> dict[str, int]:
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("events", "jobs", "sweeps", "descriptions", "filesets")
        }


async def test_a_sweep_is_one_record_until_a_job_differs(tmp_path: Path) -> None:
    store, sweep = open_store(tmp_path), _sweep(1000)
    await _keep(store, sweep)
    assert _written(tmp_path) == {"events": 0, "jobs": 0, "sweeps": 1, "descriptions": 1, "filesets": 1}
    record = await store.job(sweep.ids[500])
    assert record is not None
    await store.append([step(store, record, E.MATCHED, attempt=1, resources=("ce",))])
    assert _written(tmp_path) == {"events": 3, "jobs": 1, "sweeps": 1, "descriptions": 1, "filesets": 1}
    store.close()
    assert check(tmp_path) == []


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_that_is_asked_tells_a_sweep_from_jobs_written_one_by_one(
    tmp_path: Path, seed: int
) -> None:
    stores = [open_store(tmp_path / name) for name in ("sweeps", "plain")]
    chance = random.Random(seed)
    sweeps = [_sweep(12), _sweep(9, E.HELD), _sweep(5)]
    single = new_id()
    for store, keep in zip(stores, (_keep, _keep_one_by_one), strict=True):
        for sweep in sweeps[:2]:
            await keep(store, replace(sweep, first=store.position + 1))
        await store.submit(submission([first(store, job=single)], key="single-key"))
        await keep(store, replace(sweeps[2], first=store.position + 1))
    ids = [*(job for sweep in sweeps for job in sweep.ids), single]
    for _ in range(10):
        job = chance.choice(ids[:26])
        for store in stores:
            record = await store.job(job)
            assert record is not None
            await store.append([_next(store, record)])
    assert await _seen(stores[0], ids) == await _seen(stores[1], ids)
    for number, store in enumerate(stores):
        store.close()
        assert check(tmp_path / ("sweeps", "plain")[number]) == []
    again = [open_store(tmp_path / name) for name in ("sweeps", "plain")]
    assert again[0].position == again[1].position
    assert await _seen(again[0], ids) == await _seen(again[1], ids)
    for store in again:
        store.close()


def _next(store: Store, record: JobRecord) -> LogEntry:
    """A next event that is legal for the job."""
    if record.held:
        return step(store, record, E.RELEASED)
    if record.state is JobState.WAITING:
        return step(store, record, E.MATCHED, 1005.0, attempt=1, resources=("here:1/jobmanager-fork-all",))
    if record.state.ended:
        return step(store, record, E.MESSAGE_LATE)
    kinds = [kind for kind, _ in LIFE]
    at = {JobState.READY: 2, JobState.SCHEDULED: 3, JobState.RUNNING: 4}[record.state]
    return step(store, record, kinds[at], 1010.0, **LIFE[at][1])


async def test_two_steps_at_once_begin_a_job_once(tmp_path: Path) -> None:
    store, sweep = open_store(tmp_path), _sweep(3)
    await _keep(store, sweep)
    record = await store.job(sweep.ids[1])
    assert record is not None
    matched = step(store, record, E.MATCHED, attempt=1, resources=("ce",))
    scheduled = step(store, matched.record, E.SCHEDULED, attempt=1)
    await asyncio.gather(store.append([matched]), store.append([scheduled]))
    assert [event.seq for event in await store.events_of(sweep.ids[1])] == [1, 2, 3, 4]
    store.close()
    assert check(tmp_path) == []


async def test_a_sweep_whose_jobs_all_began_leaves_with_what_nobody_else_needs(tmp_path: Path) -> None:
    store, sweep = open_store(tmp_path), _sweep(2)
    await _keep(store, sweep)
    for job in sweep.ids:
        record = await store.job(job)
        assert record is not None
        canceled = step(store, record, E.CANCELED)
        await store.append([canceled])
        await store.append([step(store, canceled.record, E.PURGED)])
    assert (await store.states(), store.live()) == ({}, [])
    store.close()
    open_store(tmp_path).close()
    assert _written(tmp_path) == {"events": 2, "jobs": 0, "sweeps": 0, "descriptions": 0, "filesets": 0}


async def _purged(store: Store, job: str) -> None:
    record = await store.job(job)
    assert record is not None
    canceled = step(store, record, E.CANCELED)
    await store.append([canceled])
    await store.append([step(store, canceled.record, E.PURGED)])


async def test_a_purged_job_does_not_come_back_with_its_sweep(tmp_path: Path) -> None:
    store, sweep = open_store(tmp_path), _sweep(3)
    await _keep(store, sweep)
    await _purged(store, sweep.ids[1])
    store.tidy()
    for _ in range(2):
        assert [record.id for record in await store.jobs(sweep.ids)] == [sweep.ids[0], sweep.ids[2]]
        assert (await store.states()) == {"Waiting": 2}
        store.close()
        assert check(tmp_path) == []
        store = open_store(tmp_path)
        assert [record.id for record in store.live()] == [sweep.ids[0], sweep.ids[2]]
    assert [event.type for event in await store.events_of(sweep.ids[1])] == [E.SUBMITTED, E.PURGED]
    store.close()


async def test_a_sweep_that_is_over_leaves_while_the_store_is_open(tmp_path: Path) -> None:
    store, sweep, other = open_store(tmp_path), _sweep(2), _sweep(2)
    await _keep(store, sweep)
    await _keep(store, other)
    for job in sweep.ids:
        await _purged(store, job)
    store.tidy()
    await store.append([first(store)])  # written after it
    assert _written(tmp_path) | {"descriptions": 1} == {
        "events": 3, "jobs": 1, "sweeps": 1, "descriptions": 1, "filesets": 1,
    }  # fmt: skip
    assert [record.id for record in await store.jobs(other.ids)] == list(other.ids)
    store.close()
    assert check(tmp_path) == []


@pytest.mark.expected_log("The damaged record of a sweep at position 1 is taken out")
async def test_a_damaged_sweep_is_taken_out_and_told_and_the_others_go_on(tmp_path: Path) -> None:
    store, sweep, other = open_store(tmp_path), _sweep(4), _sweep(2)
    await _keep(store, sweep)
    canceled = step(store, await store.job(sweep.ids[0]), E.CANCELED)
    await store.append([canceled])
    await _keep(store, other)
    last = store.position
    store.close()
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection, connection:
        changed = "UPDATE sweeps SET body = replace(body, 'v3', 'v4') WHERE first = ?"
        assert connection.execute(changed, (sweep.first,)).rowcount == 1
    assert [found.place for found in check(tmp_path)] == ["sweep at position 1"]
    for _ in range(2):
        store = open_store(tmp_path)
        assert [record.id for record in store.live()] == list(other.ids)
        assert await store.job(sweep.ids[0]) == canceled.record
        assert store.position == last
        (notice,) = store.notices
        assert ("3 jobs" in notice, str(tmp_path / ASIDE_FILE) in notice) == (True, True)
        store.close()
    (line,) = (tmp_path / ASIDE_FILE).read_text().splitlines()
    assert json.loads(line)["lost"] == list(sweep.ids[1:])
    assert json.loads(line)["row"][0] == sweep.first
    assert check(tmp_path) == []


async def test_a_repair_takes_a_damaged_sweep_out_as_well(tmp_path: Path) -> None:
    store, sweep = open_store(tmp_path), _sweep(4)
    await _keep(store, sweep)
    await store.submit(submission([first(store)]))
    store.close()
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE sweeps SET body = replace(body, 'v3', 'v4')")
    repaired = repair(tmp_path, host="here", pid=1)
    assert any("sweeps, 1" in found.place for found in repaired.findings)
    assert check(tmp_path) == []
    store = open_store(tmp_path)
    assert len(store.live()) == 1
    store.close()


async def test_who_asks_for_the_input_of_a_job_that_has_just_begun_waits_for_no_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, sweep = open_store(tmp_path), _sweep(3)
    store.take_positions(sweep)
    receipt = Receipt(ids=list(sweep.ids), batch="b")
    await store.submit(NewSubmission(OWNER, "key", receipt, {SHA: TEXT}, (), sweeps=((sweep, ()),)))
    record = await store.job(sweep.ids[1])
    assert record is not None
    await store.append([step(store, record, E.MATCHED, attempt=1, resources=("ce",))])
    with monkeypatch.context() as patch:
        patch.setattr(Readers, "read", None)
        assert [await store.files_of(one) for one in sweep.ids] == [[], [], []]
    store.close()
