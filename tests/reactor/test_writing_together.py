"""What something waits for is written at once, what comes faster in groups; nothing goes out before."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvloop

from broker_core.bookkeeping.entries import EntityEntry, LogEntry
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.bookkeeping.store import Store
from broker_core.broker.engine import engine as module
from broker_core.broker.engine.engine import BURST, Engine
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.engine.stream import Stream
from broker_core.jdl.check import check
from broker_core.reactor.core import Core
from broker_core.resources.facts import SourceHeard, facts_of
from broker_core.scheduling.build import build
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.scheduling.demand import demand_of
from broker_core.scheduling.effects import Ask, Cancel, Confirm, LateMessage, Submit
from broker_core.scheduling.messages import Arrival, SubmissionRecorded
from tests.bookkeeping.made import TEXT, first, open_store, submission
from tests.scheduling.stage import matched, resource
from tests.waiting import eventually

JOBS = 12


def test_a_write_that_is_due_at_once_does_not_stop_what_is_decided_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the broker's own event loop, which hands out another kind of handle there."""
    monkeypatch.setattr(module, "SPAN", 0.0004)
    assert len(set(uvloop.run(_sent_of_burst(tmp_path)))) == JOBS


async def _sent_of_burst(folder: Path) -> list[str]:
    """Ids of the jobs that went to a site, of as many as are decided one right after the other."""
    store = open_store(folder)
    sent = list[str]()
    engine = _engine(store, lambda effect: sent.append(effect.record.id))
    for arrival in await _arrivals(store):
        engine.post(SubmissionRecorded((arrival,)))
    await engine.settled()
    await eventually(lambda: len(sent) == JOBS)
    engine.stop()
    store.close()
    return sent


async def test_decisions_in_quick_succession_share_a_write_and_a_single_one_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SPAN", 1e9)
    store = open_store(tmp_path)
    writes, sent = list[int](), list[str]()
    append = store.append

    def counted(entries: Sequence[LogEntry | EntityEntry]) -> Any:
        writes.append(len(entries))
        return append(entries)

    def to_site(effect: Submit) -> None:
        with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
            kinds = "SELECT type FROM events WHERE job = ?"
            assert ("job.matched",) in connection.execute(kinds, (effect.record.id,)).fetchall()
        sent.append(effect.record.id)

    monkeypatch.setattr(store, "append", counted)
    engine = _engine(store, to_site)
    arrivals = await _arrivals(store)
    for number, arrival in enumerate(arrivals):
        engine.post(SubmissionRecorded((arrival,)))
        if number < BURST:
            await eventually(lambda: len(sent) > number)  # noqa: B023 - awaited before the next
    assert len(sent) == len(writes) == BURST, "the others wait for a moment"
    await engine.settled()
    await eventually(lambda: len(sent) == JOBS)
    assert sorted(sent) == sorted(arrival.record.id for arrival in arrivals)
    assert len(writes) == BURST + 1
    engine.stop()
    store.close()


def _engine(store: Store, to_site: Callable[[Submit], None]) -> Engine:
    """One that has a computing element for each job."""
    engine = Engine(store, Core([build(matched, store.next_position)]), Stream(store), FailPoints())
    ignored = dict.fromkeys((Confirm, Cancel, Ask, LateMessage, ReleaseBarrier, EndLauncher), lambda _: None)
    engine.connect({**ignored, Submit: to_site})
    at = tuple(facts_of(resource(f"ce{number}:2119/jobmanager-pbs-x")) for number in range(JOBS))
    engine.post(SourceHeard("here", 0.0, 0.0, at, complete=True, interval=1e9))
    return engine


async def _arrivals(store: Store) -> list[Arrival]:
    """Jobs that are in the store."""
    entries = [first(store) for _ in range(JOBS)]
    await store.submit(submission(entries))
    description = check(TEXT).description
    assert description is not None
    return [Arrival(entry.record, demand_of(description, TEXT)) for entry in entries]
