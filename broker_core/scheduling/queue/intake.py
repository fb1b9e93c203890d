"""Jobs on their way to where they wait: those that were submitted, and those that are looked at again."""

from __future__ import annotations

import math

from broker_core.jobs.members import members
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.eligibility import WorkBudget
from broker_core.scheduling.messages import SubmissionRecorded
from broker_core.scheduling.queue.admission import Admission
from broker_core.scheduling.queue.arrivals import TAKEN_OVER
from broker_core.scheduling.queue.fresh_answers import FreshAnswers
from broker_core.scheduling.state import SchedulerState

S, E = members(JobState), members(EventType)


class Intake:
    """Takes jobs over and sorts them in, a slice at a time."""

    def __init__(self, state: SchedulerState, admission: Admission, answers: FreshAnswers) -> None:
        self._state = state
        self._jobs, self._arrivals, self._queue = state.jobs, state.arrivals, state.queue
        self._admission = admission
        self._answers = answers
        self._facts = 0
        """State of the facts by which jobs aside were looked at last."""

    def submitted(self, message: SubmissionRecorded) -> None:
        """Keep new jobs until their slice comes."""
        self._arrivals.add(message.arrivals)
        self._answers.want()

    def due(self) -> float:
        """See `Step`."""
        waits = self._arrivals.turns or self._queue.again or self._jobs.limits.changed
        return self._jobs.now.monotonic if waits else math.inf

    def run(self) -> None:
        """See `Step`."""
        if self._arrivals.turns:
            self._take_over()
        if self._jobs.limits.changed:
            self._queue.again.extend(self._jobs.limits.next(self._jobs.live))
        if self._queue.again or self._facts != self._state.cache.board.facts:
            self._sort_in_again()

    def _take_over(self) -> None:
        effort = WorkBudget(self._state.eligibility, self._state.rules.slice_jobs)
        while self._arrivals.turns and effort.more():
            job = self._arrivals.next()
            if job is not None and job.record.state is S.SUBMITTED:
                self._jobs.note(job, E.ACCEPTED, reason=TAKEN_OVER)
                if job.hold:
                    self._jobs.note(job, E.HELD, reason=job.hold)
            # A job of a sweep arrives as one that was taken over.
            if job is not None and job.record.state is S.WAITING and not job.record.held:
                self._admission.sort_in(job)

    def _sort_in_again(self) -> None:
        """Those aside are looked at again once the resources are other ones."""
        queue, facts = self._queue, self._state.cache.board.facts
        if self._facts != facts:
            self._facts = facts
            already = {job.id for job in queue.again}
            aside = (*queue.parked.values(), *queue.awaiting.values())
            queue.again.extend(job for job in aside if job.id not in already)
        effort = WorkBudget(self._state.eligibility, self._state.rules.slice_jobs)
        while queue.again and effort.more():
            job = queue.again.popleft()
            if job.record.state is S.WAITING and not job.record.held:
                self._admission.sort_in(job)
