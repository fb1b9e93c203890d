"""Replay: the rows that a sequence of events adds up to, through the one transition table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import orjson

from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, JOB_COLUMNS, event_of, intact, record_of
from broker_core.bookkeeping.sqlite.reads import damaged_event
from broker_core.jobs.events import JOB, JobEvent, kind_of
from broker_core.jobs.record import JobRecord, apply, relinked
from broker_core.jobs.transition_table import TransitionTable
from broker_core.jobs.transitions import EventType, IllegalTransition, next_state
from broker_core.reactor.entities import ENTITY_PREFIX, RecoveredEntity
from broker_core.scheduling.slots.claim_life import CLAIM_LIFE
from broker_core.scheduling.slots.glidein_life import GLIDEIN_LIFE
from broker_core.scheduling.slots.slot_life import SLOT_LIFE

_OF_JOBS = f"(type GLOB '{JOB}.*')"
"""SQL: the event is about a job."""
_TYPE = EVENT_COLUMNS.index("type")
_SUBJECT = EVENT_COLUMNS.index("job")
_DETAILS = EVENT_COLUMNS.index("details")


class Fold(Protocol):
    """What the events of one kind of entity add up to."""

    def take_row(self, row: Sequence[Any]) -> None:
        """Apply the event that a row (EVENT_COLUMNS) holds; raises StoreDamaged if it cannot follow."""
        ...


class Replay:
    """The fold of jobs: takes events in the order of their positions (of one job: of their numbers)."""

    def __init__(self) -> None:
        self.rows: dict[str, JobRecord] = {}
        """Job id to its row."""
        self._purged: dict[str, int] = {}
        self._reruns: dict[str, str] = {}
        """Job to the one whose row says that it repeats it."""

    def purged(self) -> set[str]:
        """Ids of the jobs whose row was removed by their owner."""
        return set(self._purged)

    def take_row(self, row: Sequence[Any]) -> None:
        """See `Fold`."""
        self.take(event_of(row))

    def take(self, event: JobEvent) -> None:
        """Apply one event; raises StoreDamaged naming it if it cannot follow those before it."""
        if event.job in self._purged:
            self._follow(event, self._purged[event.job])
            self._purged[event.job] = event.seq
            return
        record = self.rows.get(event.job)
        if event.type is EventType.PURGED and event.seq > (record.seq if record else 0) + 1:
            # The story of a purged job is folded: what came before is not kept (sqlite.purging).
            self._remove(event)
            return
        self._follow(event, record.seq if record else 0)
        self._step(event, record)
        self.rows[event.job] = apply(record, event)
        if record is None and (repeated := self.rows[event.job].rerun_of):
            self._reruns[repeated] = event.job
        if event.type is EventType.PURGED:
            self._remove(event)

    def _remove(self, event: JobEvent) -> None:
        """What repeats a job that is gone repeats the one before it, as its event says (sqlite.purging)."""
        self._purged[event.job] = event.seq
        self.rows.pop(event.job, None)
        before, after = event.details.get("rerun_of", ""), self._reruns.pop(event.job, "")
        if before and after in self.rows:
            self.rows[after] = relinked(self.rows[after], before)
            self._reruns[before] = after

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


class StateFold:
    """The fold of a kind whose entities have no rows: the state of each, by the table of the kind."""

    def __init__(self, table: TransitionTable[Any, Any]) -> None:
        self.states: dict[str, tuple[Any, int]] = {}
        """Entity to its state and the number of its last event."""
        self._table = table

    def take_row(self, row: Sequence[Any]) -> None:
        """See `Fold`."""
        event = dict(zip(EVENT_COLUMNS, row, strict=True))
        subject, before = event["job"], (None, 0)
        old, seq = self.states.get(subject, before)
        try:
            new = self._table.after(old, self._table.events(event["type"]))
        except (IllegalTransition, ValueError) as error:
            raise damaged_event(event["position"], subject, f"cannot follow: {error}") from error
        if (event["old"], event["seq"], event["new"]) != (old, seq + 1, new):
            raise damaged_event(event["position"], subject, f"does not follow number {seq}")
        self.states[subject] = new, seq + 1


class DetailFold(StateFold):
    """The same, with the details of all events of each entity, later ones before earlier ones."""

    def __init__(self, table: TransitionTable[Any, Any]) -> None:
        super().__init__(table)
        self._details: dict[str, dict[str, Any]] = {}
        self._final = table.final

    def take_row(self, row: Sequence[Any]) -> None:
        """See `Fold`."""
        super().take_row(row)
        self._details.setdefault(row[_SUBJECT], {}).update(orjson.loads(row[_DETAILS]))

    def live(self) -> tuple[RecoveredEntity, ...]:
        """The entities that are not over, in the order of their first events."""
        return tuple(
            RecoveredEntity(subject, state, seq, self._details[subject])
            for subject, (state, seq) in self.states.items()
            if state not in self._final
        )


FOLDS: Mapping[str, Callable[[], Fold]] = {
    JOB: Replay,
    "glidein": lambda: DetailFold(GLIDEIN_LIFE),
    "slot": lambda: DetailFold(SLOT_LIFE),
    "claim": lambda: DetailFold(CLAIM_LIFE),
}
"""Kind of entity to the maker of its fold; whoever adds a kind adds it here."""


class LogReplay:
    """Gives every event of the log to the fold of its kind."""

    def __init__(self, folds: Mapping[str, Fold]) -> None:
        """`folds`: by kind."""
        self._folds = folds

    def take(self, row: Sequence[Any]) -> None:
        """Apply the event of a row; raises StoreDamaged if it cannot follow, or is of no known kind."""
        kind = kind_of(str(row[_TYPE]))
        fold = self._folds.get(kind)
        if fold is None:
            raise damaged_event(row[0], row[1], f"is about something unknown, {kind[:40]!r}")
        fold.take_row(row)


def folds_with(jobs: Replay) -> dict[str, Fold]:
    """A new fold of each kind, of jobs the one that is given."""
    return {kind: jobs if kind == JOB else make() for kind, make in FOLDS.items()}


def stored_rows_of_events(connection: sqlite3.Connection) -> Iterator[Sequence[Any]]:
    """The rows of all events in order; raises StoreDamaged at one that is not what was written."""
    for row in connection.execute(f"SELECT {', '.join(EVENT_COLUMNS)} FROM events ORDER BY position"):
        if not intact(row):
            raise damaged_event(row[0], row[1])
        yield row


def replay_log(connection: sqlite3.Connection, folds: Mapping[str, Fold]) -> None:
    """Give all events of a store to the folds of their kinds; raises StoreDamaged."""
    log = LogReplay(folds)
    for row in stored_rows_of_events(connection):
        log.take(row)


def live_entities(connection: sqlite3.Connection) -> dict[str, tuple[RecoveredEntity, ...]]:
    """By kind the entities beside jobs that are not over; raises StoreDamaged."""
    folds = {kind: make() for kind, make in FOLDS.items() if kind != JOB}
    log = LogReplay(folds)
    ours = f"job >= ? AND job < ? AND NOT {_OF_JOBS}"
    query = f"SELECT {', '.join(EVENT_COLUMNS)} FROM events WHERE {ours} ORDER BY position"
    for row in connection.execute(query, (ENTITY_PREFIX, f"{ENTITY_PREFIX}~")):
        if not intact(row):
            raise damaged_event(row[0], row[1])
        log.take(row)
    return {kind: fold.live() for kind, fold in folds.items() if isinstance(fold, DetailFold)}


def replayed_rows(connection: sqlite3.Connection) -> dict[str, JobRecord]:
    """Job id to the row that all its events add up to; raises StoreDamaged."""
    jobs = Replay()
    replay_log(connection, folds_with(jobs))
    return jobs.rows


def stored_rows(connection: sqlite3.Connection) -> dict[str, JobRecord]:
    """Job id to the row in the jobs table."""
    rows = connection.execute(f"SELECT {', '.join(JOB_COLUMNS)} FROM jobs")
    return {record.id: record for record in map(record_of, rows)}
