"""An attempt was given up: the job is matched again, held, or has had its rounds (CB-ERR-6)."""

from __future__ import annotations

from typing import Any

from broker_core.jobs.events import EventSource
from broker_core.jobs.failure_history import ChoiceFailure, FailureHistory
from broker_core.jobs.members import members
from broker_core.jobs.placement import listed
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.live_job import NO_ATTEMPT, LiveJob
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.state import SchedulerState

E = members(EventType)


class Rematching:
    """Brings a job back from a site into the queue, visibly in its story."""

    def __init__(self, state: SchedulerState, selector: Selector, attempts: Attempts) -> None:
        self._jobs = state.jobs
        self._queue = state.queue
        self._rules = state.rules
        self._selector = selector
        self._attempts = attempts

    def again(
        self,
        job: LiveJob,
        type_: EventType,
        reason: str,
        trouble: ChoiceFailure,
        *,
        counts: bool = True,
        hold: str = "",
        source: EventSource = EventSource.SCHEDULER,
        details: dict[str, Any] | None = None,
    ) -> None:
        """Record why the attempt was given up, and what follows. `counts`: it is a round of CB-ERR-6."""
        waited = bool(job.given_up) and job.runs_since is None
        self._attempts.decided(job, "re-matched", str(trouble))
        self._attempts.release(job)
        job.tried += (trouble,)
        job.round_tried = ()
        job.rounds += counts
        job.tries = 1
        job.attempt = NO_ATTEMPT
        self._jobs.note(job, type_, source, reason=reason, details=(details or {}) | _past(job).details())
        if job.record.interactive:
            # One that was kept in a queue may start elsewhere: its site was fuller than was known.
            if not (waited and self._starts_now(job, trouble.ces)):
                self._abort(job, f"An interactive job starts at once or not at all. {trouble}")
        elif hold := hold or self._poison(job):
            self._jobs.note(job, E.HELD, reason=hold, details={"suspected": True})
        elif job.rounds > self._rules.max_rematch:
            most = self._rules.max_rematch
            tried = "; ".join(dict.fromkeys(map(str, job.tried[-10:])))
            self._abort(job, f"Given up after {most} rounds of matching. Tried: {tried}")
        else:
            self._queue.add(job)

    def _starts_now(self, job: LiveJob, besides: tuple[str, ...]) -> bool:
        choice = self._selector.choose(job.demand, job.excluded.union(besides), self._jobs.now.monotonic)
        return choice is not None and self._attempts.assign(job, choice)

    def next_choice(self, job: LiveJob, failure: ChoiceFailure) -> bool:
        """Try the next of the list (CB-SCH-10), as far as it still has room; False where none is left.

        What was tried in this round is not tried again before the whole selection is (SA-LCH-02).
        """
        now = self._jobs.now.monotonic
        choice = self._selector.choose(job.demand, job.excluded.union(job.round_tried), now)
        if choice is None or not self._attempts.take(job, choice):
            return False
        job.tried += (failure,)
        reason = f"{listed(failure.ces)} refused it: {failure.error}; trying {job.where}"
        self._attempts.decided(job, "next-choice", reason, choice.of)
        self._attempts.begin(job, E.CHOICE_FAILED, reason, {"failed": failure.details()})
        return True

    def release(self, job: LiveJob) -> None:
        """Take back what a job has."""
        self._attempts.release(job)

    def exclude(self, job: LiveJob, ces: tuple[str, ...]) -> None:
        """Let a job not meet these again, unless no other resource could ever run it: then it waits until
        they are in order again."""
        excluded = job.excluded.union(ces)
        if self._selector.has_others(job.demand, excluded):
            job.excluded = excluded

    def _abort(self, job: LiveJob, reason: str) -> None:
        self._jobs.note(
            job, E.ABORTED, reason=reason, details={"tried": [one.details() for one in job.tried[-50:]]}
        )

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
