"""An attempt was given up: the job is matched again, held, or has had its rounds (CB-ERR-6)."""

from __future__ import annotations

from typing import Any

from broker_core.jobs.events import EventSource
from broker_core.jobs.failure_history import FailureHistory
from broker_core.jobs.members import members
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.pending_queue import PendingQueue
from broker_core.scheduling.selection import Selector

E = members(EventType)


class Rematching:
    """Brings a job back from a site into the queue, visibly in its story."""

    def __init__(
        self,
        ledger: JobTable,
        attempts: Attempts,
        chooser: Selector,
        waiting: PendingQueue,
        rules: SchedulerConfig,
    ) -> None:
        self._ledger = ledger
        self._attempts = attempts
        self._chooser = chooser
        self._waiting = waiting
        self._rules = rules

    def again(
        self,
        job: LiveJob,
        type_: EventType,
        reason: str,
        trouble: str,
        *,
        counts: bool = True,
        hold: str = "",
        source: EventSource = EventSource.SCHEDULER,
        details: dict[str, Any] | None = None,
    ) -> None:
        """Record why the attempt was given up, and what follows. `counts`: it is a round of CB-ERR-6."""
        self._attempts.decided(job, "re-matched", trouble)
        self._attempts.release(job)
        job.tried += (trouble,)
        job.round_tried = ()
        job.rounds += counts
        job.retried, job.suspect = False, False
        self._ledger.note(job, type_, source, reason=reason, details=(details or {}) | _past(job).details())
        if job.record.interactive:
            self._abort(job, f"An interactive job starts at once or not at all. {trouble}")
        elif hold := hold or self._poison(job):
            self._ledger.note(job, E.HELD, reason=hold, details={"suspected": True})
        elif job.rounds > self._rules.max_rematch:
            most = self._rules.max_rematch
            tried = "; ".join(dict.fromkeys(job.tried[-10:]))
            self._abort(job, f"Given up after {most} rounds of matching. Tried: {tried}")
        else:
            self._waiting.add(job)

    def exclude(self, job: LiveJob, ces: tuple[str, ...]) -> None:
        """Let a job not meet these again, unless no other resource could ever run it: then it waits until
        they are in order again."""
        excluded = job.excluded.union(ces)
        if self._chooser.has_others(job.demand, excluded):
            job.excluded = excluded

    def _abort(self, job: LiveJob, reason: str) -> None:
        self._ledger.note(job, E.ABORTED, reason=reason, details={"tried": list(job.tried[-50:])})

    def _poison(self, job: LiveJob) -> str:
        """Why a job is held whose starters or agents die wherever they begin (reliability case 24)."""
        if len(job.died) < self._rules.poison_starters:
            return ""
        return (
            f"What starts it died {len(job.died)} times ({', '.join(job.died)}): the job may be the cause. "
            "Look at it, then release it"
        )


def _past(job: LiveJob) -> FailureHistory:
    return FailureHistory(job.rounds, tuple(sorted(job.excluded)), job.tried, job.died)
