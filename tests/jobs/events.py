"""Events for tests of the life of jobs."""

from __future__ import annotations

from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import JobRecord
from broker_core.jobs.transitions import (
    EventType,
    next_state,
)

FIXED = {"name": "x", "structure": "Normal", "interactive": False, "cpus": 1, "description": "ab"}


def make(record: JobRecord | None, kind: EventType, time: float, attempt: int = 0) -> JobEvent:
    """The next event of a job; raises IllegalTransition."""
    old = record.state if record else None
    return JobEvent(
        job="job",
        seq=record.seq + 1 if record else 1,
        time=time,
        source=EventSource.AL,
        type=kind,
        old=old,
        new=next_state(old, kind),
        owner="ann",
        attempt=attempt,
        resources=("ce",) if kind is EventType.MATCHED else (),
        reason=kind.name,
        details=FIXED if record is None else {},
        position=record.position + 1 if record else 1,
    )
