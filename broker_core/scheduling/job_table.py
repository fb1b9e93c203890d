"""The live jobs and the effects of the message in hand; every step of a job goes through `note`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import apply
from broker_core.jobs.transitions import EventType, next_state
from broker_core.reactor.reactor import Now
from broker_core.scheduling.effects import Effect, JobEnded, Record
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.queue.batch_limits import BatchLimits
from broker_core.version import SCHEMA


class JobTable:
    """Holds the live jobs; turns decisions into events by the transition table."""

    def __init__(self, positions: Callable[[], int]) -> None:
        self._positions = positions
        self.live: dict[str, LiveJob] = {}
        self.limits = BatchLimits()
        self.effects: list[Effect] = []
        self.now = Now(0.0, 0.0)

    def begin(self, now: Now) -> list[Effect]:
        """Start on a message; returns the list that its effects are added to."""
        self.now = now
        self.effects = []
        return self.effects

    def note(
        self,
        job: LiveJob,
        type_: EventType,
        source: EventSource = EventSource.SCHEDULER,
        *,
        reason: str = "",
        time: float | None = None,
        attempt: int | None = None,
        resources: tuple[str, ...] = (),
        details: dict[str, Any] | None = None,
    ) -> None:
        """Record that something happened to a job; raises IllegalTransition for a step outside the table."""
        before = job.record
        event = JobEvent(
            before.id,
            before.seq + 1,
            self.now.wall if time is None else time,
            source,
            type_,
            before.state,
            next_state(before.state, type_),
            before.owner,
            before.attempt if attempt is None else attempt,
            resources,
            reason,
            details or {},
            SCHEMA,
            self._positions(),
        )
        after = job.record = apply(before, event)
        self.effects.append(Record(event, after))
        if after.batch and (after.ended is not None or after.held):
            self.limits.leave(after)
        if after.ended is not None:
            del self.live[before.id]
            self.effects.append(JobEnded(after))
