"""The record of a job that finds nothing free says so, once it has waited for a moment."""

from __future__ import annotations

import math

from broker_core.jobs.events import EventSource
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.questions import Questions
from broker_core.scheduling.queue.admission import Admission
from broker_core.scheduling.queue.scheduling_pass import SchedulingPass
from broker_core.scheduling.state import SchedulerState


class Explanations:
    """Notes why jobs wait, each once."""

    def __init__(
        self, state: SchedulerState, rounds: SchedulingPass, admission: Admission, questions: Questions
    ) -> None:
        self._jobs = state.jobs
        self._queue = state.queue
        self._after = state.rules.explain_after
        self._rounds = rounds
        self._admission = admission
        self._questions = questions

    def due(self) -> float:
        """See `Step`."""
        unexplained = self._rounds.unexplained
        return next(iter(unexplained.values())) + self._after if unexplained else math.inf

    def run(self) -> None:
        """See `Step`."""
        unexplained, now = self._rounds.unexplained, self._jobs.now.monotonic
        while unexplained:
            job_id, since = next(iter(unexplained.items()))
            job = self._jobs.live.get(job_id)
            line = self._queue.line(job) if job is not None else None
            if job is None or line is None or line.since is None or line.head() is not job:
                del unexplained[job_id]
            elif now - since < self._after:
                return
            else:
                del unexplained[job_id]
                line.explained = job_id
                reason = self._questions.met(job, now)
                self._admission.decided(job, "postponed", reason)
                self._jobs.note(job, EventType.POSTPONED, EventSource.RS, reason=reason)
