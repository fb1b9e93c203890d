"""The queue of pending requests: first come first served, with the hopeless and the held put aside."""

from __future__ import annotations

import heapq

from broker_core.scheduling.live_job import LiveJob


class WaitingJobs:
    """Waiting jobs in three places: in the queue, parked as infeasible, or on hold.

    The queue is a heap over the order of arrival from which jobs that left are dropped when they come to
    its head; a job that comes back after a failure takes its old place.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, str]] = []
        self._queued: dict[str, LiveJob] = {}
        self.parked: dict[str, LiveJob] = {}
        """Jobs that no known resource could ever run, by id; they hold nobody back."""

    def __len__(self) -> int:
        return len(self._queued)

    def add(self, job: LiveJob) -> None:
        """Queue a job by its order of arrival."""
        self.parked.pop(job.id, None)
        if job.id not in self._queued:
            self._queued[job.id] = job
            heapq.heappush(self._heap, (job.order, job.id))

    def park(self, job: LiveJob) -> None:
        """Put a job aside that nothing known can run."""
        self._queued.pop(job.id, None)
        self.parked[job.id] = job

    def remove(self, job: LiveJob) -> None:
        """The job waits no more, or is on hold."""
        self._queued.pop(job.id, None)
        self.parked.pop(job.id, None)

    def head(self) -> LiveJob | None:
        """The job whose turn it is."""
        while self._heap:
            job = self._queued.get(self._heap[0][1])
            if job is not None:
                return job
            heapq.heappop(self._heap)
        return None

    def place(self, job: LiveJob) -> int:
        """1 for the head of the queue; 0 for a job that is not in it."""
        if job.id not in self._queued:
            return 0
        return 1 + sum(1 for other in self._queued.values() if other.order < job.order)
