"""Jobs, events and submissions for the tests of the store."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from broker_core.bookkeeping.entries import LogEntry, NewSubmission
from broker_core.bookkeeping.store import Store
from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.transitions import EventType as E
from broker_core.jobs.transitions import next_state
from broker_core.wire.submission import Receipt, SandboxFile

OWNER = "ann"
TEXT = 'Executable = "/bin/true"; Arguments = "_PARAM_";'
SHA = hashlib.sha256(TEXT.encode()).hexdigest()
INPUT = (SandboxFile(name="data.csv", sha256="ab" * 32, size=17),)

LIFE: tuple[tuple[E, dict[str, Any]], ...] = (
    (E.ACCEPTED, {}),
    (E.MATCHED, {"attempt": 1, "resources": ("here:1/jobmanager-fork-all",)}),
    (E.SCHEDULED, {"attempt": 1}),
    (E.RUNNING, {"attempt": 1, "details": {"node": "here"}}),
    (E.DONE, {"attempt": 1, "details": {"exit_code": 0}}),
)
"""What follows the submission of a job that ends well."""


def open_store(directory: Path, **more: Any) -> Store:
    """Open a store as this process."""
    return Store.open(directory, **{"host": socket.gethostname(), "pid": os.getpid(), **more})


def new_id() -> str:
    """A job id as the broker makes them."""
    return secrets.token_urlsafe(16)


def step(store: Store, record: JobRecord | None, kind: E, time: float = 1000.0, **more: Any) -> LogEntry:
    """The next event of a job, with the row after it."""
    event = JobEvent(
        job=record.id if record else more.pop("job"),
        seq=record.seq + 1 if record else 1,
        time=time,
        source=EventSource.SCHEDULER,
        type=kind,
        old=record.state if record else None,
        new=next_state(record.state if record else None, kind),
        owner=record.owner if record else more.pop("owner", OWNER),
        position=store.next_position(),
        **more,
    )
    return LogEntry(event, apply(record, event))


def first(store: Store, time: float = 1000.0, **fixed: Any) -> LogEntry:
    """The submission of a job."""
    job, owner = fixed.pop("job", None) or new_id(), fixed.pop("owner", OWNER)
    details = {"name": "true", "structure": "Normal", "interactive": False, "cpus": 1, "description": SHA}
    return step(store, None, E.SUBMITTED, time, job=job, owner=owner, details={**details, **fixed})


def life(store: Store, time: float = 1000.0, upto: int = len(LIFE), **fixed: Any) -> list[LogEntry]:
    """All events of a job that ends well, one second apart, or the first of them."""
    entries = [first(store, time, **fixed)]
    for number, (kind, more) in enumerate(LIFE[:upto], 1):
        entries.append(step(store, entries[-1].record, kind, time + number, **more))
    return entries


def submission(
    entries: Sequence[LogEntry], key: str = "", files: tuple[SandboxFile, ...] = INPUT
) -> NewSubmission:
    """A submission of jobs by their first events."""
    ids = [entry.event.job for entry in entries]
    return NewSubmission(
        owner=entries[0].event.owner,
        key=key or secrets.token_hex(8),
        receipt=Receipt(ids=ids, batch="b" if len(ids) > 1 else ""),
        descriptions={SHA: TEXT},
        entries=entries,
        files=dict.fromkeys(ids, files),
    )
