"""What may still happen to a job that has ended: its output is fetched, it is purged, a site speaks late."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from broker_core.bookkeeping.entries import LogEntry
from broker_core.broker.engine.engine import Engine
from broker_core.errors import Conflict
from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType, next_state
from broker_core.scheduling.effects import LateMessage
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.ended")


class EndedJobs:
    """Steps of ended jobs, one after the other: their rows are read from the store, not held in memory."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def fetched(self, job: str, missing: Sequence[str]) -> None:
        """The output is with its owner: Cleared, or still Done where listed files were missing (CB-CMD-04).

        Output of aborted and canceled jobs may be fetched as well; that changes nothing. Raises Conflict
        for a job that has not ended.
        """
        async with self._one_at_a_time:
            record = await self._ended(job)
            if record.state is not JobState.DONE:
                return
            if missing:
                names = ", ".join(missing[:20])
                await self._note(
                    [record],
                    EventType.OUTPUT_INCOMPLETE,
                    reason=f"Missing: {names}",
                    details={"missing": list(missing[:1000])},
                )
            else:
                await self._note([record], EventType.CLEARED, reason="The output was delivered")

    async def purge(self, jobs: Sequence[str]) -> list[JobRecord]:
        """Remove the rows of those of the jobs that have ended; returns their records."""
        async with self._one_at_a_time:
            await self._engine.settled()
            records = [record for record in await self._engine.store.jobs(jobs) if record.state.ended]
            if records:
                await self._note(records, EventType.PURGED, reason="Removed by its owner")
            return records

    def stray(self, effect: LateMessage) -> None:
        """Record a message about a job that is not live any more (reliability case 11)."""
        task = asyncio.create_task(self._late(effect))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _late(self, effect: LateMessage) -> None:
        async with self._one_at_a_time:
            await self._engine.settled()
            record = await self._engine.store.job(effect.message.component.job)
            if record is None or not record.state.ended:
                log.warning(
                    "A site speaks of job %s, which is not here: %s",
                    effect.message.component.job,
                    effect.reason,
                )
                return
            await self._note(
                [record],
                EventType.MESSAGE_LATE,
                EventSource.AL,
                reason=effect.reason,
                details={"message": effect.message.name, "attempt": effect.message.component.attempt},
            )

    async def _ended(self, job: str) -> JobRecord:
        await self._engine.settled()
        record = await self._engine.store.job(job)
        if record is None or not record.state.ended:
            raise Conflict("The job has not ended yet; its output is not complete.", place=job)
        return record

    async def _note(
        self,
        records: Sequence[JobRecord],
        type_: EventType,
        source: EventSource = EventSource.UAM,
        *,
        reason: str,
        details: dict[str, Any] | None = None,
    ) -> None:
        entries = []
        for record in records:
            event = JobEvent(
                job=record.id,
                seq=record.seq + 1,
                time=now().wall,
                source=source,
                type=type_,
                old=record.state,
                new=next_state(record.state, type_),
                owner=record.owner,
                attempt=record.attempt,
                reason=reason,
                details=details or {},
                position=self._engine.store.next_position(),
            )
            entries.append(LogEntry(event, apply(record, event)))
        await self._engine.record(entries)
