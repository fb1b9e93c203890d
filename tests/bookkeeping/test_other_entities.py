"""The log is one for entities of every kind: a new kind has a table, events and a fold, and is replayed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from broker_core.bookkeeping.check import check
from broker_core.bookkeeping.replay import Replay, folds_with, replay_log, replayed_rows
from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, event_row
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.errors import StoreDamaged
from broker_core.jobs.events import EventSource, JobEvent, RecordedEvent, kind_of
from broker_core.jobs.transition_table import TransitionTable
from tests.bookkeeping.made import OWNER, life, open_store, submission


class SlotState(StrEnum):
    FREE = "Free"
    CLAIMED = "Claimed"
    GONE = "Gone"


class SlotEvent(StrEnum):
    OFFERED = "booth.offered"
    CLAIMED = "booth.claimed"
    RELEASED = "booth.released"
    LOST = "booth.lost"


S, E = SlotState, SlotEvent
LIFE = TransitionTable(
    "a slot", tuple(S), SlotEvent, frozenset({S.GONE}),
    {(None, E.OFFERED): S.FREE, (S.FREE, E.CLAIMED): S.CLAIMED, (S.CLAIMED, E.RELEASED): S.FREE,
     (S.FREE, E.LOST): S.GONE, (S.CLAIMED, E.LOST): S.GONE},
)  # fmt: skip


@dataclass
class SlotHappened:
    """See `RecordedEvent`."""

    subject: str
    seq: int
    type: SlotEvent
    old: SlotState | None
    new: SlotState
    position: int
    time: float = 1000.0
    source: EventSource = EventSource.GLIDEIN
    owner: str = OWNER
    attempt: int = 0
    resources: tuple[str, ...] = ("here:1/jobmanager-fork-all",)
    reason: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    schema: int = 1


class SlotFold:
    """Slot to its state and the number of its last event."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[SlotState, int]] = {}

    def take_row(self, row: Sequence[Any]) -> None:
        values = dict(zip(EVENT_COLUMNS, row, strict=True))
        old, seq = self.rows.get(values["job"], (None, 0))
        assert (values["old"], values["seq"]) == (old, seq + 1)
        new = LIFE.after(old, SlotEvent(values["type"]))
        assert values["new"] == new
        self.rows[values["job"]] = new, seq + 1


def slot_events(subject: str, names: Sequence[SlotEvent], position: int) -> Iterator[RecordedEvent]:
    old = None
    for number, name in enumerate(names):
        new = LIFE.after(old, name)
        yield SlotHappened(subject, number + 1, name, old, new, position + number)
        old = new


@pytest.fixture
async def mixed(tmp_path: Path) -> Path:
    """A store with jobs and slots."""
    store = open_store(tmp_path)
    jobs = [life(store, 1000.0, upto=stage) for stage in (1, 3, 5)]
    for one in jobs:
        await store.submit(submission(one[:1]))
        await store.append(one[1:])
    position = store.next_position()
    store.close()
    events = [
        *slot_events("slot0", (E.OFFERED, E.CLAIMED, E.RELEASED, E.LOST), position),
        *slot_events("slot1", (E.OFFERED, E.CLAIMED), position + 4),
    ]
    marks = ",".join("?" * len(EVENT_COLUMNS))
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection, connection:
        connection.executemany(
            f"INSERT INTO events ({', '.join(EVENT_COLUMNS)}) VALUES ({marks})", map(event_row, events)
        )
    return tmp_path


def test_an_event_tells_its_kind_and_its_subject(mixed: Path) -> None:
    with closing(sqlite3.connect(mixed / STORE_FILE)) as connection:
        rows = connection.execute("SELECT type, job FROM events").fetchall()
    assert {kind_of(name) for name, _ in rows} == {"job", "booth"}
    assert {subject for name, subject in rows if kind_of(name) == "booth"} == {"slot0", "slot1"}


def test_each_kind_adds_up_to_its_own_rows(mixed: Path) -> None:
    slots, jobs = SlotFold(), Replay()
    with closing(sqlite3.connect(mixed / STORE_FILE)) as connection:
        replay_log(connection, {**folds_with(jobs), "booth": slots})
    assert slots.rows == {"slot0": (S.GONE, 4), "slot1": (S.CLAIMED, 2)}
    assert sorted(row.state.value for row in jobs.rows.values()) == ["Done", "Scheduled", "Waiting"]


async def test_who_reads_the_events_of_jobs_reads_those_alone(mixed: Path) -> None:
    store = open_store(mixed)
    try:
        found = await store.events_after(0, OWNER, 1000)
        assert {type(event) for event in found} == {JobEvent}
        assert len(found) == 12
        assert await store.events_of("slot0") == []
        assert store.next_position() == found[-1].position + 7, "places in the log are shared"
    finally:
        store.close()


def test_what_is_of_no_known_kind_is_told_and_not_skipped(mixed: Path) -> None:
    findings = check(mixed)
    assert {(one.job, one.what) for one in findings} == {
        (slot, "An event is about something unknown, 'booth'.") for slot in ("slot0", "slot1")
    }
    with (
        closing(sqlite3.connect(mixed / STORE_FILE)) as connection,
        pytest.raises(StoreDamaged, match="something unknown, 'booth'"),
    ):
        replayed_rows(connection)
