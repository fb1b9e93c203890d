"""What may still happen to a job that has ended: its output is fetched, it is purged, a site speaks late."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from broker_core.bookkeeping.entries import LogEntry
from broker_core.broker.engine.engine import Engine
from broker_core.errors import Conflict
from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import JobRecord, apply, relinked
from broker_core.jobs.reruns import RerunChains
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
                    details=lambda _: {"missing": list(missing[:1000])},
                )
            else:
                await self._note([record], EventType.CLEARED, reason="The output was delivered")

    async def purge(self, jobs: Sequence[str], reason: str) -> list[JobRecord]:
        """Remove the rows of those of the jobs that have ended, for a reason; returns their records."""
        async with self._one_at_a_time:
            await self._engine.settled()
            records = [record for record in await self._engine.store.jobs(jobs) if record.state.ended]
            if records:
                await self._note(_closed(records), EventType.PURGED, reason=reason, details=_link)
            return records

    async def tell_expiring(self, goes: Mapping[str, float]) -> None:
        """Record, once for each moment, that what jobs left at their sites is removed then.

        `goes`: job to the moment, seconds since the epoch. The story remembers what was recorded before.
        """
        async with self._one_at_a_time:
            await self._engine.settled()
            records = [record for record in await self._engine.store.jobs(list(goes)) if record.state.ended]
            new = [record for record in records if not await self._is_recorded(record.id, goes[record.id])]
            if new:
                await self._note(
                    new,
                    EventType.LEFT_EXPIRES,
                    EventSource.AL,
                    reason="What it left at its site is removed there within a day",
                    details=lambda record: {"goes": goes[record.id]},
                )

    async def _is_recorded(self, job: str, goes: float) -> bool:
        events = await self._engine.store.events_of(job)
        return any(
            event.type is EventType.LEFT_EXPIRES and event.details.get("goes") == goes for event in events
        )

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
                details=lambda _: {
                    "message": effect.message.name,
                    "attempt": effect.message.component.attempt,
                },
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
        details: Callable[[JobRecord], dict[str, Any]] = lambda _: {},
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
                details=details(record),
                position=self._engine.store.next_position(),
            )
            entries.append(LogEntry(event, apply(record, event)))
        await self._engine.record(entries)


def _closed(records: Sequence[JobRecord]) -> list[JobRecord]:
    """The records, each repeating what it does once those before it in the list are gone."""
    chains, closed = RerunChains(), list[JobRecord]()
    for record in records:
        chains.add(record.id, record.rerun_of)
    for record in records:
        before, _ = chains.remove(record.id)
        closed.append(record if before == record.rerun_of else relinked(record, before))
    return closed


def _link(record: JobRecord) -> dict[str, Any]:
    """Which job it repeated: the next of the chain repeats that one once this is gone."""
    return {"rerun_of": record.rerun_of} if record.rerun_of else {}
