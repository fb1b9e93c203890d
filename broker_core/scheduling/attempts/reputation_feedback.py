"""What the end of an attempt says of the place where it was: the reputation learns from it."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.state import SchedulerState

SILENT = frozenset({"lost", "lease"})
"""The site or its node was not heard of any more, and the attempt can run no longer: a resource error."""
SAME_ANYWHERE = frozenset({"executable-missing", "refused-second-start"})
"""Failures before the start that a second try on the same resource cannot mend."""

HERE_NEVER = frozenset({"never-starts"})
"""The site would keep it for ever: a second try there cannot mend it, and it says nothing of other jobs."""


class ReputationFeedback:
    """Tells the good ends from those that a place made."""

    def __init__(self, state: SchedulerState) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._learned = state.cache.reputation
        self._fast = state.rules.fast_end

    def finished(self, job: LiveJob, message: AttemptEnded) -> None:
        """The program had started."""
        now, record = self._jobs.now.monotonic, job.record
        if message.exit_code == 0 and not message.failure and message.signal is None:
            for ce in job.ces:
                self._learned.succeeded(ce, record.description, now)
        elif message.failure == "lost" and not job.given_up:
            reason = (message.reason or "running jobs are lost").rstrip(".")
            for ce in job.ces:
                self._learned.lost(ce, record.description, reason, now)
        elif message.failure in SILENT or (job.given_up and message.failure == "killed"):
            self._failed(job, message)
        elif not message.failure:
            fast = record.started is not None and message.time - record.started < self._fast
            for ce in job.ces:
                if fast:
                    reason = "programs end badly within seconds"
                    self._learned.ended_badly(ce, record.description, reason, now)
                else:
                    self._learned.neutral(ce, now)
        if self._learned.changed:
            self._cache.heed(now)

    def early(self, job: LiveJob, message: AttemptEnded) -> None:
        """The program never started."""
        now = self._jobs.now.monotonic
        if job.given_up and job.runs_since is None:
            # Who lets a job wait, or is left because its owner wishes so, has not failed it.
            return
        if message.failure not in SAME_ANYWHERE | HERE_NEVER:
            self._failed(job, message)
        elif message.failure == "executable-missing":
            for ce in job.ces:
                self._learned.ended_badly(ce, job.record.description, "programs are not found", now)
        self._cache.heed(now)

    def _failed(self, job: LiveJob, message: AttemptEnded) -> None:
        reason = job.given_up or message.reason or message.failure or "jobs end before their programs start"
        for ce in job.ces:
            self._learned.failed(ce, reason.rstrip("."), self._jobs.now.monotonic)
