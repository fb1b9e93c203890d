"""Batches of which only so many jobs may be at work at the same time: `MaxRunningJobs`, `%` of arrays."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

from broker_core.jobs.record import JobRecord
from broker_core.scheduling.live_job import LiveJob


@dataclass(slots=True)
class _Batch:
    at_work: set[str] = field(default_factory=set)
    """Jobs in the queue, or at a site."""
    aside: list[tuple[int, str]] = field(default_factory=list)
    """A heap of those that wait for them, by their order of arrival, and of some that left."""
    waiting: set[str] = field(default_factory=set)
    """The ids in `aside` that count."""


class BatchLimits:
    """Lets the first jobs of a batch in, and the next one for each that ends or is put on hold."""

    def __init__(self) -> None:
        self._batches: dict[str, _Batch] = {}
        self.changed: set[str] = set()
        """Batches with room for a further job; to be read only."""

    def admit(self, job: LiveJob) -> bool:
        """True if a waiting job may go into the queue; else it is kept aside until its turn."""
        limit = _limit(job)
        if not limit:
            return True
        batch = self._batches.setdefault(job.record.batch, _Batch())
        if job.id in batch.at_work or len(batch.at_work) < limit:
            batch.at_work.add(job.id)
            return True
        if job.id not in batch.waiting:
            batch.waiting.add(job.id)
            heapq.heappush(batch.aside, (job.order, job.id))
        return False

    def occupy(self, job: LiveJob) -> None:
        """A job that the broker found at a site counts, whatever the limit."""
        if _limit(job):
            self._batches.setdefault(job.record.batch, _Batch()).at_work.add(job.id)

    def leave(self, record: JobRecord) -> None:
        """A job has ended, or is put on hold."""
        batch = self._batches.get(record.batch)
        if batch is None:
            return
        batch.waiting.discard(record.id)
        if record.id in batch.at_work:
            batch.at_work.discard(record.id)
            self.changed.add(record.batch)

    def is_aside(self, job: LiveJob) -> bool:
        """True for a job that waits for others of its batch."""
        batch = self._batches.get(job.record.batch)
        return batch is not None and job.id in batch.waiting

    def next(self, live: Mapping[str, LiveJob]) -> list[LiveJob]:
        """The jobs whose turn has come."""
        found = [job for id in sorted(self.changed) for job in self._next(id, live)]
        self.changed.clear()
        return found

    def _next(self, id: str, live: Mapping[str, LiveJob]) -> list[LiveJob]:
        batch, found = self._batches[id], []
        while batch.aside:
            job = live.get(batch.aside[0][1])
            if job is not None and job.id in batch.waiting:
                if len(batch.at_work) >= _limit(job):
                    break
                batch.waiting.discard(job.id)
                batch.at_work.add(job.id)
                found.append(job)
            heapq.heappop(batch.aside)
        if not (batch.at_work or batch.aside):
            del self._batches[id]
        return found


def _limit(job: LiveJob) -> int:
    """How many jobs of its batch may be at work; 0: as many as can. An interactive one starts at once."""
    description = job.demand.description
    return description.most_running if job.record.batch and not description.interactive else 0
