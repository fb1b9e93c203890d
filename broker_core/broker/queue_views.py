"""The queue of pending requests, and why a job is not running, as they are shown (CB-UI-11)."""

from __future__ import annotations

from typing import Any

from broker_core.broker.clock import now
from broker_core.broker.services import Services
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.live_job import LiveJob
from broker_core.wire.queue import QUEUE_COLUMNS, QueueView, WhyView


def queue_view(services: Services, owner: str) -> QueueView:
    """The caller's part of the queue, in order."""
    scheduler = services.engine.scheduler
    waiting = [job for job in scheduler.live() if job.record.state is JobState.WAITING]
    waiting.sort(key=lambda job: job.order)
    rows = [_row(services, job) for job in waiting if job.record.owner == owner]
    return QueueView(
        columns={name: [row[place] for row in rows] for place, name in enumerate(QUEUE_COLUMNS)},
        total=len(waiting),
        policy=services.policies.order,
        queue_policy=services.policies.queue,
    )


def _row(services: Services, job: LiveJob) -> tuple[Any, ...]:
    scheduler, record = services.engine.scheduler, job.record
    return (
        record.id,
        record.name,
        scheduler.queue_place(record.id),
        record.cpus,
        "interactive" if record.interactive else "batch",
        record.accepted or record.submitted,
        scheduler.waits_for(record.id, now().monotonic),
        [],
        _state(job, scheduler.queue_place(record.id)),
    )


def _state(job: LiveJob, place: int) -> str:
    if job.record.held:
        return "held"
    return "queued" if place else "parked"


def why_view(services: Services, record: JobRecord, headline: str) -> WhyView:
    """Why a job is not running, by what decides it."""
    scheduler = services.engine.scheduler
    return WhyView(job=record.id, headline=headline, place=scheduler.queue_place(record.id))
