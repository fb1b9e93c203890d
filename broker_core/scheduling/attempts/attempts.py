"""The begin of an attempt: what was chosen is locked and given to the job, then it is handed over."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from broker_core.jdl.description import BatchNeeds
from broker_core.jobs.components import SHARES
from broker_core.jobs.events import EventSource
from broker_core.jobs.members import members
from broker_core.jobs.story import EXPECTED_WAIT
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.several_sites import SeveralSites
from broker_core.scheduling.effects import Submit, of_components
from broker_core.scheduling.live_job import HANDING_OVER, LiveJob
from broker_core.scheduling.messages import StartForetold
from broker_core.scheduling.selection import Selection
from broker_core.scheduling.state import SchedulerState
from broker_core.scheduling.wording import chosen

E, FROM = members(EventType), members(EventSource)
_FORECASTS = 100
"""Forecasts that are remembered."""
_FRESH = 300.0
"""Seconds for which one is believed more than what is known of the queue as a whole."""


class Attempts:
    """Gives resources to jobs and takes them back (CB-CACHE-05)."""

    def __init__(self, state: SchedulerState, several: SeveralSites) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._queue = state.queue
        self._decisions = state.decisions
        self._shares = state.shares
        self._several = several
        self._forecasts: OrderedDict[tuple[BatchNeeds, str], tuple[float, float]] = OrderedDict()
        """For needs at a computing element the monotonic time of the latest forecast, and its seconds."""

    def foretold(self, event: StartForetold) -> None:
        """Remember a forecast for a while: a job with these needs that goes there is told by it."""
        self._forecasts[event.needs, event.ce] = self._jobs.now.monotonic, event.wait
        if len(self._forecasts) > _FORECASTS:
            self._forecasts.popitem(last=False)

    def assign(self, job: LiveJob, choice: Selection) -> bool:
        """Lock and commit what was chosen for a job: a new attempt begins. False if another job has it."""
        if not self.take(job, choice):
            return False
        self._shares.assigned(job.order)
        job.tries = 1
        job.round_tried = ()
        reason = chosen(choice)
        self.decided(job, "chosen", reason, choice.of)
        details: dict[str, Any] = {"choices": choice.of}
        wait = self._foreseen(job, choice)
        if wait is not None:
            details[EXPECTED_WAIT] = wait
        self.begin(job, E.MATCHED, reason, details)
        return True

    def _foreseen(self, job: LiveJob, choice: Selection) -> float | None:
        """How long the job will wait: as long as for the last of its computing elements; None: unknown."""
        if self._forecasts:
            known = self._forecasts.get((job.demand.description.batch_needs, choice.ces[0]))
            if known is not None and len(choice.ces) == 1 and self._jobs.now.monotonic - known[0] < _FRESH:
                return known[1]
        columns, waits = self._cache.board.pool.columns, []
        for ce in choice.ces:
            row = columns.row_of(ce)
            wait = None if row is None else columns.expected_wait(row)
            if wait is None:
                return None
            waits.append(wait)
        return max(waits)

    def take(self, job: LiveJob, choice: Selection) -> bool:
        """Lock and commit what was chosen; False if another job has it."""
        if not self._cache.lock(choice.ces, job.id, self._jobs.now.monotonic):
            return False
        self._commit(job, choice.ces, choice.cpus)
        return True

    def begin(self, job: LiveJob, type_: EventType, reason: str, details: dict[str, Any]) -> None:
        """A new attempt on what the job has, recorded, then handed over."""
        job.attempt = HANDING_OVER
        if len(job.ces) > 1:
            details = details | {SHARES: list(job.shares)}
        self._jobs.note(
            job,
            type_,
            FROM.RS if type_ is E.MATCHED else FROM.SCHEDULER,
            attempt=job.record.attempt + 1,
            resources=job.ces,
            reason=reason,
            details=details,
        )
        if len(job.ces) > 1:
            self._several.begin(job)
        else:
            self._jobs.effects.extend(of_components(Submit, job.record))

    def adopt(self, job: LiveJob) -> None:
        """Give a job what it had before the broker's restart."""
        placements = job.record.placements
        if len(job.shares) == len(placements) > 1:
            self._commit(job, tuple(one.ce.id for one in placements), job.shares)
            return
        self._commit(job, tuple(one.ce.id for one in placements), tuple(one.cpus for one in placements))

    def release(self, job: LiveJob) -> None:
        """Take back what a job has: commitments and locks end at once."""
        if job.ces:
            self._cache.release(job.id, self._jobs.now.monotonic)
            job.ces = job.shares = ()

    def decided(self, job: LiveJob, what: str, reason: str, matching: int = 0) -> None:
        """Note a decision about a job."""
        self._decisions.add(
            self._jobs.now.wall,
            job.id,
            job.record.name,
            what,
            job.ces,
            reason,
            len(self._cache.entries),
            matching,
        )

    def _commit(self, job: LiveJob, ces: tuple[str, ...], cpus: tuple[int, ...]) -> None:
        self._queue.remove(job)
        job.ces, job.shares = ces, cpus
        for ce in dict.fromkeys(ces):
            given = sum(share for one, share in zip(ces, cpus, strict=True) if one == ce)
            self._cache.commit(ce, job.id, given, self._jobs.now.monotonic)
