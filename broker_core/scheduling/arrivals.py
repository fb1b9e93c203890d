"""Jobs that were submitted and whose slice has not come yet: thousands at once keep nobody waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from broker_core.jobs.states import JobState
from broker_core.scheduling.ledger import Ledger
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import Arrival


class Arrivals:
    """Makes live jobs of arrivals, in their order, when their turn comes or when somebody asks for one."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._orders = 0
        self._waiting: dict[str, tuple[int, Arrival]] = {}
        self._turns: deque[str] = deque()

    def __bool__(self) -> bool:
        """True while some are to be taken over."""
        return bool(self._turns)

    def add(self, arrivals: Iterable[Arrival]) -> None:
        """Keep arrivals until their turn; those that are known already, or have ended, are none."""
        jobs = self._ledger.jobs
        fresh = {
            one.record.id: (order, one)
            for order, one in enumerate(arrivals, self._orders + 1)
            if one.record.id not in jobs and one.record.state in (JobState.SUBMITTED, JobState.WAITING)
        }
        if self._waiting:
            fresh = {job: known for job, known in fresh.items() if job not in self._waiting}
        self._waiting.update(fresh)
        self._turns.extend(fresh)
        self._orders = max((order for order, _ in fresh.values()), default=self._orders)

    def admit(self, arrival: Arrival) -> LiveJob:
        """Make a live job at once, behind all that came before."""
        self._orders += 1
        return self._live(self._orders, arrival)

    def known(self, job: str) -> LiveJob | None:
        """A live job, whether or not its turn has come."""
        early = self._waiting.pop(job, None)
        return self._ledger.jobs.get(job) if early is None else self._live(*early)

    def admit_all(self) -> None:
        """Make live jobs of all."""
        for job in list(self._waiting):
            self.known(job)

    def next(self) -> LiveJob | None:
        """The job whose turn it is; None for one that has left meanwhile."""
        return self.known(self._turns.popleft())

    def _live(self, order: int, arrival: Arrival) -> LiveJob:
        job = self._ledger.jobs[arrival.record.id] = LiveJob(arrival.record, arrival.demand, order)
        job.hold = arrival.hold
        if arrival.past is not None:
            job.remember(arrival.past)
        return job
