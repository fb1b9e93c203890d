"""Events and records as rows of the store, and back."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import orjson

from broker_core.jobs.events import EventSource, JobEvent, RecordedEvent
from broker_core.jobs.placement import column, ids_in, shared
from broker_core.jobs.record import COLUMNS, JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType

EVENT_COLUMNS = (
    "position",
    "job",
    "seq",
    "time",
    "source",
    "type",
    "old",
    "new",
    "owner",
    "attempt",
    "resources",
    "reason",
    "details",
    "schema",
    "checksum",
)
"""Columns of the events table, in order; `resources` and `details` are JSON text.

`job` names the subject, of whatever kind: the name of the first kind has stayed.
"""

JOB_COLUMNS = COLUMNS
"""Columns of the jobs table that are the fields of JobRecord, in order."""

FIXED_COLUMNS = (
    "id",
    "owner",
    "name",
    "structure",
    "interactive",
    "cpus",
    "description",
    "batch",
    "parameter",
    "pinned",
    "rerun_of",
    "submitted",
)
"""Columns that the first event sets and no later one changes."""

CHANGING_COLUMNS = tuple(name for name in JOB_COLUMNS if name not in FIXED_COLUMNS)
"""Columns that later events may change."""

_stored = {"state": "state._value_", "site": "placements"}
_record_values = attrgetter(*(_stored.get(name, name) for name in JOB_COLUMNS))
_changing_values = attrgetter("id", *(_stored.get(name, name) for name in CHANGING_COLUMNS))
_STATE = JOB_COLUMNS.index("state")
_INTERACTIVE = JOB_COLUMNS.index("interactive")
_SITE = JOB_COLUMNS.index("site")
_CHANGING_SITE = 1 + CHANGING_COLUMNS.index("site")
_CPUS = JOB_COLUMNS.index("cpus")


def checksum(values: Sequence[Any]) -> bytes:
    """Eight bytes over the values of an event row, its checksum column left out."""
    return blake2b(orjson.dumps(values), digest_size=8).digest()


def event_row(event: RecordedEvent) -> tuple[Any, ...]:
    """The row of an event, with its checksum. Text that no UTF-8 can hold is written with escapes."""
    values = _event_values(event)
    try:
        return (*values, checksum(values))
    except TypeError:
        values = tuple(clean(value) if isinstance(value, str) else value for value in values)
        return (*values, checksum(values))


def _event_values(event: RecordedEvent) -> tuple[Any, ...]:
    old = event.old
    return (
        event.position,
        event.subject,
        event.seq,
        event.time,
        event.source._value_,
        event.type._value_,
        None if old is None else old._value_,
        event.new._value_,
        event.owner,
        event.attempt,
        json_text(event.resources) if event.resources else "[]",
        event.reason,
        json_text(event.details) if event.details else "{}",
        event.schema,
    )


def json_text(value: Any) -> str:
    """JSON text of a value; lone surrogates (from file names) are written with escapes."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return orjson.dumps(_cleaned(value)).decode()


def clean(text: str) -> str:
    """Text with what UTF-8 cannot hold written as `\\udc80`."""
    return text.encode("utf-8", "backslashreplace").decode()


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def intact(row: Sequence[Any]) -> bool:
    """True if an event row is what was written (reliability case 5)."""
    try:
        return bool(checksum(row[:-1]) == row[-1])
    except TypeError:
        return False


def event_of(row: Sequence[Any]) -> JobEvent:
    """The event of a job that a row holds."""
    position, job, seq, time, source, kind, old, new, owner, attempt = row[:10]
    resources, reason, details, schema = row[10:14]
    return JobEvent(
        job=job,
        seq=seq,
        time=time,
        source=EventSource(source),
        type=EventType(kind),
        old=None if old is None else JobState(old),
        new=JobState(new),
        owner=owner,
        attempt=attempt,
        resources=tuple(orjson.loads(resources)),
        reason=reason,
        details=orjson.loads(details),
        schema=schema,
        position=position,
    )


def record_row(record: JobRecord) -> tuple[Any, ...]:
    """The values of JOB_COLUMNS."""
    return _row(_record_values(record), _SITE)


def changing_row(record: JobRecord) -> tuple[Any, ...]:
    """The id, then the values of CHANGING_COLUMNS."""
    return _row(_changing_values(record), _CHANGING_SITE)


def _row(values: tuple[Any, ...], site: int) -> tuple[Any, ...]:
    """The values with text for the placements, and in UTF-8."""
    values = (*values[:site], column(values[site]), *values[site + 1 :])
    for value in values:
        if value.__class__ is str and not value.isascii():
            return tuple(clean(item) if item.__class__ is str else item for item in values)
    return values


def record_of(row: Sequence[Any]) -> JobRecord:
    """The record that the values of JOB_COLUMNS hold."""
    values = list(row)
    values[_STATE] = JobState(values[_STATE])
    values[_INTERACTIVE] = bool(values[_INTERACTIVE])
    values[_SITE] = shared(ids_in(values[_SITE]), values[_CPUS])
    return JobRecord(*values)
