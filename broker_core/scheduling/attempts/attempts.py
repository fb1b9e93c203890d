"""The begin of an attempt: what was chosen is locked and given to the job, then it is handed over."""

from __future__ import annotations

from typing import Any

from broker_core.jobs.members import members
from broker_core.jobs.transitions import EventType
from broker_core.resources.cache import ResourceCache
from broker_core.scheduling.decisions import Decisions
from broker_core.scheduling.effects import Submit, of_components
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.pending_queue import PendingQueue
from broker_core.scheduling.selection import Selection
from broker_core.scheduling.shares import FairShares
from broker_core.scheduling.wording import chosen

E = members(EventType)


class Attempts:
    """Gives resources to jobs and takes them back (CB-CACHE-05)."""

    def __init__(
        self,
        ledger: JobTable,
        cache: ResourceCache,
        waiting: PendingQueue,
        decisions: Decisions,
        shares: FairShares,
    ) -> None:
        self._ledger = ledger
        self._cache = cache
        self._waiting = waiting
        self._decisions = decisions
        self._shares = shares

    def place(self, job: LiveJob, choice: Selection) -> bool:
        """Lock and commit what was chosen for a job: a new attempt begins. False if another job has it."""
        if not self.take(job, choice):
            return False
        self._shares.placed(job.order)
        job.retried = False
        job.round_tried = ()
        reason = chosen(choice)
        self.decided(job, "chosen", reason, choice.of)
        self.begin(job, E.MATCHED, reason, {"choices": choice.of})
        return True

    def take(self, job: LiveJob, choice: Selection) -> bool:
        """Lock and commit what was chosen; False if another job has it."""
        if not self._cache.lock(choice.ces, job.id, self._ledger.now.monotonic):
            return False
        self._commit(job, choice.ces, choice.cpus)
        return True

    def begin(self, job: LiveJob, type_: EventType, reason: str, details: dict[str, Any]) -> None:
        """A new attempt on what the job has, recorded, then handed over."""
        job.runs_since, job.queued_since, job.given_up, job.holds = None, None, "", False
        self._ledger.note(
            job,
            type_,
            attempt=job.record.attempt + 1,
            resources=job.ces,
            reason=reason,
            details=details,
        )
        self._ledger.effects.extend(of_components(Submit, job.record))

    def adopt(self, job: LiveJob) -> None:
        """Give a job what it had before the broker's restart."""
        placements = job.record.placements
        self._commit(job, tuple(one.ce.id for one in placements), tuple(one.cpus for one in placements))

    def release(self, job: LiveJob) -> None:
        """Take back what a job has: commitments and locks end at once."""
        if job.ces:
            self._cache.release(job.id, self._ledger.now.monotonic)
            job.ces = ()

    def decided(self, job: LiveJob, what: str, reason: str, matching: int = 0) -> None:
        """Note a decision about a job."""
        self._decisions.add(
            self._ledger.now.wall,
            job.id,
            job.record.name,
            what,
            job.ces,
            reason,
            len(self._cache.entries),
            matching,
        )

    def _commit(self, job: LiveJob, ces: tuple[str, ...], cpus: tuple[int, ...]) -> None:
        self._waiting.remove(job)
        job.ces = ces
        for ce, given in zip(ces, cpus, strict=True):
            self._cache.commit(ce, job.id, given, self._ledger.now.monotonic)
