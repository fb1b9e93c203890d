"""Replay: the rows that a sequence of events adds up to, through the one transition table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from broker_core.bookkeeping.codec import EVENT_COLUMNS, JOB_COLUMNS, event_of, intact, record_of
from broker_core.bookkeeping.reads import damaged_event
from broker_core.jobs.events import JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.transitions import EventType, IllegalTransition, next_state


class Replay:
    """Takes events in the order of their positions (of one job: of their numbers)."""

    def __init__(self) -> None:
        self.rows: dict[str, JobRecord] = {}
        """Job id to its row."""
        self._purged: dict[str, int] = {}

    def purged(self) -> set[str]:
        """Ids of the jobs whose row was removed by their owner."""
        return set(self._purged)

    def take(self, event: JobEvent) -> None:
        """Apply one event; raises StoreDamaged naming it if it cannot follow those before it."""
        if event.job in self._purged:
            self._follow(event, self._purged[event.job])
            self._purged[event.job] = event.seq
            return
        record = self.rows.get(event.job)
        if event.type is EventType.PURGED and event.seq > (record.seq if record else 0) + 1:
            # The story of a purged job is folded: what came before is not kept (bookkeeping.purging).
            self._purged[event.job] = event.seq
            self.rows.pop(event.job, None)
            return
        self._follow(event, record.seq if record else 0)
        self._step(event, record)
        self.rows[event.job] = apply(record, event)
        if event.type is EventType.PURGED:
            self._purged[event.job] = event.seq
            del self.rows[event.job]

    def _follow(self, event: JobEvent, before: int) -> None:
        if event.seq != before + 1:
            text = f"has number {event.seq} where {before + 1} is due"
            raise damaged_event(event.position, event.job, text)

    def _step(self, event: JobEvent, record: JobRecord | None) -> None:
        old = record.state if record else None
        try:
            agrees = event.old is old and event.new is next_state(old, event.type)
        except IllegalTransition:
            agrees = False
        if not agrees:
            text = f"({event.type.value}) cannot follow state {old.value if old else 'none'}"
            raise damaged_event(event.position, event.job, text)


def stored_events(connection: sqlite3.Connection) -> Iterator[JobEvent]:
    """All events of a store in order; raises StoreDamaged at one that is not what was written."""
    for row in connection.execute(f"SELECT {', '.join(EVENT_COLUMNS)} FROM events ORDER BY position"):
        if not intact(row):
            raise damaged_event(row[0], row[1])
        yield event_of(row)


def replayed_rows(connection: sqlite3.Connection) -> dict[str, JobRecord]:
    """Job id to the row that all its events add up to; raises StoreDamaged."""
    replay = Replay()
    for event in stored_events(connection):
        replay.take(event)
    return replay.rows


def stored_rows(connection: sqlite3.Connection) -> dict[str, JobRecord]:
    """Job id to the row in the jobs table."""
    rows = connection.execute(f"SELECT {', '.join(JOB_COLUMNS)} FROM jobs")
    return {record.id: record for record in map(record_of, rows)}
