"""Events of jobs as the broker shows them, as those from which its own records follow."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.wire.views import EventView

_KNOWN = frozenset(EventType)


def replayed_events(events: Iterable[EventView]) -> list[JobEvent]:
    """Return the events; kinds that a newer broker may know and this program does not are left out."""
    return [_event(one) for one in events if one.type in _KNOWN]


def _event(one: EventView) -> JobEvent:
    return JobEvent(
        job=one.job,
        seq=one.seq,
        time=one.time,
        source=EventSource(one.source),
        type=EventType(one.type),
        old=JobState(one.old) if one.old else None,
        new=JobState(one.new),
        owner=one.owner,
        attempt=one.attempt,
        resources=tuple(one.resources),
        reason=one.reason,
        details=one.details,
        position=one.position,
    )
