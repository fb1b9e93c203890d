"""The queue of pending requests: first come first served, in lines of jobs that resources treat alike."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from broker_core.scheduling.demand import Demand
from broker_core.scheduling.live_job import LiveJob

ALL = -1
"""Every row, as bits."""


@dataclass(slots=True)
class JobQueue:
    """Waiting jobs of one demand with the same excluded resources: what holds for the first holds for all.

    A heap over the order of arrival from which jobs that left are dropped when they come to its head; a job
    that comes back after a failure takes its old place.
    """

    demand: Demand
    excluded: frozenset[str]
    jobs: dict[str, LiveJob] = field(default_factory=dict)
    heap: list[tuple[int, str]] = field(default_factory=list)
    mask: int = 0
    """Rows that its jobs could ever use, as bits: it holds back other lines that could use one of them."""
    facts: int = -1
    """State of the facts for which `mask` holds."""
    fresh: int = ALL
    """Rows, as bits, of which it is not known that they cannot take its first job now."""
    first: int = 0
    """Order of its first job as the queue knows it; 0 without jobs."""
    since: float | None = None
    """Since when its first job finds nothing free, monotonic."""
    explained: str = ""
    """Job whose record says so."""

    def head(self) -> LiveJob | None:
        """The first of its jobs."""
        while self.heap:
            job = self.jobs.get(self.heap[0][1])
            if job is not None:
                return job
            heapq.heappop(self.heap)
        return None


class PendingQueue:
    """Waiting jobs: those queued in lines, and those parked as infeasible. Held jobs are in neither."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, frozenset[str]], JobQueue] = {}
        self.jobs: dict[str, JobQueue] = {}
        """The line of each queued job; to be read only."""
        self._orders: list[int] = []
        self._at: dict[int, JobQueue] = {}
        self.parked: dict[str, LiveJob] = {}
        """Jobs that no known resource could ever run, by id; they hold nobody back."""
        self.awaiting: dict[str, LiveJob] = {}
        """Interactive jobs that a site may take which is being connected, by id; as parked ones."""
        self.again: deque[LiveJob] = deque()
        """Jobs that are to be sorted in again; they may be aside, or nowhere yet."""
        self.freed = 0
        """Rows, as bits, for which a job that was before others waits no more."""
        self.dirty = False
        """A line is new, so that it has to be looked at."""

    def __len__(self) -> int:
        return len(self.jobs)

    def add(self, job: LiveJob) -> None:
        """Queue a job by its order of arrival."""
        self.remove(job)
        key = (job.demand.key, job.excluded)
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = JobQueue(job.demand, key[1])
            self.dirty = True
        line.jobs[job.id] = job
        self.jobs[job.id] = line
        heapq.heappush(line.heap, (job.order, job.id))
        self._rank(line)

    def park(self, job: LiveJob) -> None:
        """Put a job aside that nothing known can run."""
        self.remove(job)
        self.parked[job.id] = job

    def wait_for_site(self, job: LiveJob) -> None:
        """Put an interactive job aside for a moment."""
        self.remove(job)
        self.awaiting[job.id] = job

    def remove(self, job: LiveJob) -> None:
        """The job waits no more, or is on hold."""
        self.parked.pop(job.id, None)
        self.awaiting.pop(job.id, None)
        line = self.jobs.pop(job.id, None)
        if line is None:
            return
        del line.jobs[job.id]
        if line.first == job.order:
            if len(self._lines) > 1:  # who stands behind it in its own line needs the same
                self.freed |= line.mask
            line.since = None
            self._rank(line)
        if not line.jobs:
            del self._lines[job.demand.key, line.excluded]

    def lines(self) -> Iterator[JobQueue]:
        """The lines in the order of their first jobs; these may be placed meanwhile.

        A line whose first job was placed comes again where its next job stands.
        """
        order = 0
        while (index := bisect_right(self._orders, order)) < len(self._orders):
            order = self._orders[index]
            yield self._at[order]

    def line(self, job: LiveJob) -> JobQueue | None:
        """The line in which a job is queued."""
        return self.jobs.get(job.id)

    def queued(self) -> list[LiveJob]:
        """All queued jobs in order."""
        found = [job for line in self._lines.values() for job in line.jobs.values()]
        found.sort(key=lambda job: job.order)
        return found

    def position(self, job: LiveJob) -> int:
        """1 for the head of the queue; 0 for a job that is not in it."""
        if job.id not in self.jobs:
            return 0
        before = (other for line in self._lines.values() for other in line.jobs.values())
        return 1 + sum(other.order < job.order for other in before)

    def _rank(self, line: JobQueue) -> None:
        """Keep the line where its first job stands."""
        head = line.head()
        order = 0 if head is None else head.order
        if order == line.first:
            return
        if line.first:
            del self._orders[bisect_left(self._orders, line.first)], self._at[line.first]
        if order:
            insort(self._orders, order)
            self._at[order] = line
            self.dirty = True
        line.first = order
