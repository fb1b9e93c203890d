"""Jobs that were submitted and whose slice has not come yet: thousands at once keep nobody waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count, groupby
from operator import attrgetter

from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType, next_state
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import Arrival
from broker_core.scheduling.queue.shares import FairShares

_NEW = (JobState.SUBMITTED, JobState.WAITING)
TAKEN_OVER = "Taken over by the scheduler"
"""Reason of `job.accepted`, which the scheduler alone records."""
_ALIKE = attrgetter("record.owner", "record.cpus")


class Arrivals:
    """Makes live jobs of arrivals when their turn comes or when somebody asks for one.

    Users take turns, so that the few jobs of one need not wait until the many of another are taken over
    (reliability case 22); those of one user come in their order.
    """

    def __init__(self, jobs: JobTable, shares: FairShares) -> None:
        self._jobs = jobs
        self._shares = shares
        self._waiting: dict[str, tuple[int, Arrival]] = {}
        self.turns: dict[str, deque[str]] = {}
        """User to jobs that are to be taken over; the user whose turn it is comes first. To be read only."""

    def __len__(self) -> int:
        """Jobs that are to be taken over."""
        return len(self._waiting)

    def add(self, arrivals: Sequence[Arrival]) -> None:
        """Keep arrivals until their turn; those that are known already, or have ended, are none."""
        if len(arrivals) == 1:
            self._add_one(arrivals[0])
            return
        for (owner, cpus), alike in groupby(arrivals, _ALIKE):
            self._add(owner, cpus, alike)

    def _add_one(self, arrival: Arrival) -> None:
        record = arrival.record
        if record.state in _NEW and record.id not in self._jobs.live and record.id not in self._waiting:
            self._waiting[record.id] = self._shares.take(record.owner, record.cpus), arrival
            self.turns.setdefault(record.owner, deque()).append(record.id)

    def _add(self, owner: str, cpus: int, arrivals: Iterable[Arrival]) -> None:
        jobs, waiting = self._jobs.live, self._waiting
        orders = count(self._shares.next(owner), self._shares.step(cpus))
        fresh = {
            one.record.id: (next(orders), one)
            for one in arrivals
            if one.record.state in _NEW and one.record.id not in jobs and one.record.id not in waiting
        }
        if fresh:
            self._shares.took(owner, next(orders))
            waiting.update(fresh)
            self.turns.setdefault(owner, deque()).extend(fresh)

    def admit(self, arrival: Arrival) -> LiveJob:
        """Make a live job at once, behind all that came before."""
        return self._live(self._shares.take(arrival.record.owner, arrival.record.cpus), arrival)

    def known(self, job: str) -> LiveJob | None:
        """A live job, whether or not its turn has come."""
        early = self._waiting.pop(job, None)
        return self._jobs.live.get(job) if early is None else self._live(*early)

    def admit_all(self) -> None:
        """Make live jobs of all."""
        for job in list(self._waiting):
            self.known(job)

    def next(self) -> LiveJob | None:
        """The job whose turn it is; None for one that has left meanwhile."""
        turns = self.turns
        owner, mine = next(iter(turns.items()))
        job = mine.popleft()
        if not mine:
            del turns[owner]
        elif len(turns) > 1:
            del turns[owner]
            turns[owner] = mine
        return self.known(job)

    def _live(self, order: int, arrival: Arrival) -> LiveJob:
        job = self._jobs.live[arrival.record.id] = LiveJob(arrival.record, arrival.demand, order)
        job.hold = arrival.hold
        if arrival.past is not None:
            job.remember(arrival.past)
        if job.at_site:
            self._jobs.limits.occupy(job)
        return job


def taken_over(submitted: JobEvent, hold: str) -> tuple[JobEvent, ...]:
    """What the scheduler records of each job of a sweep: all are taken over as they are submitted."""
    accepted = _next(submitted, EventType.ACCEPTED, TAKEN_OVER)
    return (accepted, _next(accepted, EventType.HELD, hold)) if hold else (accepted,)


def _next(before: JobEvent, type_: EventType, reason: str) -> JobEvent:
    return JobEvent(
        job=before.job,
        seq=before.seq + 1,
        time=before.time,
        source=EventSource.SCHEDULER,
        type=type_,
        old=before.new,
        new=next_state(before.new, type_),
        owner=before.owner,
        reason=reason,
    )
