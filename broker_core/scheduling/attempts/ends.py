"""An attempt is over: the job is done, tried again, matched again, or given up (CB-ERR-3 and 5)."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptEnded, AttemptRefused
from broker_core.jobs.events import EventSource
from broker_core.jobs.failure_history import ChoiceFailure
from broker_core.jobs.members import members
from broker_core.jobs.placement import listed
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.rematching import Rematching
from broker_core.scheduling.attempts.reputation_feedback import (
    HERE_NEVER,
    SAME_ANYWHERE,
    SILENT,
    ReputationFeedback,
)
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.state import SchedulerState
from broker_core.scheduling.wording import abnormal, end_details

E, FROM = members(EventType), members(EventSource)
DIED = frozenset({"lost", "starter", "agent"})
"""What starts the program died itself."""
MADE_ROOM = "made-room"
"""Failure of an attempt that was ended for another job on its machine: nothing failed."""
_TRIES = 2
"""Of a resource, before it is left (CB-ERR-3)."""
_AFTER_START = frozenset({"software", "upload", "wall-limit", "output-limit", "out-of-memory", "no-desk"})
"""Failures that only an application that ran can meet."""


class AttemptEnds:
    """Every end of the current attempt of a job."""

    def __init__(
        self, state: SchedulerState, attempts: Attempts, rematching: Rematching, fences: Fences
    ) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._attempts = attempts
        self._rematching = rematching
        self._fences = fences
        self._feedback = ReputationFeedback(state)

    def canceled(self, job: LiveJob, message: AttemptEnded) -> None:
        """Its owner had asked for it."""
        self._attempts.release(job)
        reason = "" if message.reason.startswith("Canceled") else message.reason
        self._note(job, message, E.CANCELED, f"Canceled by its owner. {reason}".removesuffix(". "))

    def finished(self, job: LiveJob, message: AttemptEnded) -> None:
        """The application had started: its own end, or one that the resource made (CB-ERR-5)."""
        if message.failure == MADE_ROOM:
            self._made_room(job, message)
            return
        self._feedback.finished(job, message)
        if not message.failure and message.signal is None and message.exit_code is not None:
            self._attempts.release(job)
            self._note(job, message, E.DONE, f"Exit code {message.exit_code}")
            return
        if message.failure == "lost" and not job.given_up:
            job.died += tuple(map(self._cache.site_of, job.ces))
        lost = message.failure in SILENT or (bool(job.given_up) and message.failure == "killed")
        if lost and not job.record.interactive:
            self._elsewhere(job, message)
        else:
            self._attempts.release(job)
            self._note(job, message, E.ABORTED, abnormal(job, message))

    def early(self, job: LiveJob, message: AttemptEnded) -> None:
        """The application never started: once more here, then elsewhere (CB-ERR-3)."""
        if message.failure == MADE_ROOM:
            self._made_room(job, message)
            return
        self._feedback.early(job, message)
        if message.failure in DIED:
            self._died_early(job)
        if message.failure in SILENT or job.given_up:
            self._elsewhere(job, message)
        elif job.tries < _TRIES and message.failure not in SAME_ANYWHERE | HERE_NEVER:
            job.tries += 1
            details = end_details(message)
            self._attempts.begin(job, E.RETRIED, f"Once more on the same resource: {_why(message)}", details)
        else:
            job.excluded |= set(job.ces)
            self._rematch(job, message, f"Given up at {job.where}", _why(message))

    def _made_room(self, job: LiveJob, message: AttemptEnded) -> None:
        """It was ended for another job on its machine: it waits again, and nobody has failed."""
        self._rematch(job, message, f"Ended at {job.sites}", message.reason, counts=False)

    def refused(self, job: LiveJob, message: AttemptRefused) -> None:
        """Its site did not take the attempt: the next choice, or another round (CB-ERR-1 and 2)."""
        now = self._jobs.now.monotonic
        failed, ces = job.record, job.ces
        for one in ces:
            self._cache.failed(one, now, message.reason, counts=message.counts, down=message.down)
        self._attempts.release(job)
        # A site that did not answer may have the attempt.
        self._fences.doubt(failed, silent=message.down)
        if job.canceling:
            self._jobs.note(job, E.CANCELED, reason="Canceled by its owner before a site had it")
            return
        job.round_tried += ces
        trouble = ChoiceFailure(ces, message.reason)
        if not self._rematching.next_choice(job, trouble):
            reason = f"{listed(ces)} refused it: {message.reason}"
            self._rematching.again(job, E.LIST_EXHAUSTED, reason, trouble, counts=message.counts)

    def never_arrived(self, job: LiveJob, message: AttemptEnded) -> None:
        """A job that was on its way whenever the broker died: its site does not have it."""
        reason = "The broker died again and again while this job was on its way to a site"
        hold = f"{reason}: the job may be the cause. Look at it, then release it"
        trouble = ChoiceFailure(job.ces, _why(message))
        self._rematching.again(job, E.REMATCHED, reason, trouble, counts=False, hold=hold)

    def _elsewhere(self, job: LiveJob, message: AttemptEnded) -> None:
        """The resource failed the job, whose attempt is certainly over."""
        why = job.given_up or message.reason or "it was not heard of any more"
        if message.failure in SILENT:
            self._fences.doubt(job.record, silent=True)
        self._rematching.exclude(job, job.ces)
        self._rematch(job, message, f"Given up at {job.sites}, its attempt has ended", why)

    def _rematch(
        self, job: LiveJob, message: AttemptEnded, what: str, why: str, *, counts: bool = True
    ) -> None:
        trouble, details = ChoiceFailure(job.ces, why), end_details(message)
        self._rematching.again(job, E.REMATCHED, f"{what}: {why}", trouble, counts=counts, details=details)

    def _died_early(self, job: LiveJob) -> None:
        for ce in job.ces:
            site = self._cache.site_of(ce)
            if site not in job.died:
                job.died += (site,)

    def _note(self, job: LiveJob, message: AttemptEnded, type_: EventType, reason: str) -> None:
        details = end_details(message)
        self._jobs.note(job, type_, FROM.JS, time=message.time, reason=reason, details=details)


def has_run(message: AttemptEnded) -> bool:
    """True if the application was started; then it is started again only where the resource failed it.

    On a full disk its site may know the exit code but not the moment of the start.
    """
    if message.started is not None or message.exit_code is not None or message.signal is not None:
        return True
    return message.failure in _AFTER_START


def _why(message: AttemptEnded) -> str:
    return message.reason or message.failure or "it ended before the application started"
