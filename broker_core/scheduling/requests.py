"""What owners ask for: cancel, hold, release, run elsewhere (CB-CMD-02)."""

from __future__ import annotations

from broker_core.jobs.members import members
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.several_ends import SeveralEnds
from broker_core.scheduling.coallocation.messages import CoallocationCanceled
from broker_core.scheduling.effects import Cancel, of_components
from broker_core.scheduling.messages import CancelAsked, HoldAsked, ReleaseAsked
from broker_core.scheduling.queue.admission import Admission
from broker_core.scheduling.state import SchedulerState

S, E = members(JobState), members(EventType)


class UserRequests:
    """Does what is asked where it has a meaning; elsewhere nothing happens."""

    def __init__(
        self, state: SchedulerState, admission: Admission, fences: Fences, several: SeveralEnds
    ) -> None:
        self._jobs = state.jobs
        self._arrivals = state.arrivals
        self._queue = state.queue
        self._admission = admission
        self._fences = fences
        self._several = several

    def cancel(self, message: CancelAsked) -> None:
        """End a job: at once where no site has it, else once its site says so."""
        job = self._arrivals.known(message.job)
        if job is None or job.canceling:
            return
        if not job.at_site:
            self._admission.leave(job)
            self._jobs.note(job, E.CANCELED, reason="Canceled by its owner before it was sent to a site")
            return
        self._jobs.note(job, E.CANCEL_REQUESTED, reason="Its owner asked to cancel it")
        if len(job.ces) > 1:
            self._several.tell(CoallocationCanceled(job.id))
        elif job.record.state is not S.READY:
            self._fences.end(job.record)
        else:  # what has it not yet says that it refuses it, or has it and is asked then
            self._jobs.effects.extend(of_components(Cancel, job.record))

    def hold(self, message: HoldAsked) -> None:
        """Match a waiting job no more for now."""
        job = self._arrivals.known(message.job)
        if job is not None and job.record.state is S.WAITING and not job.record.held:
            self._admission.leave(job)
            job.infeasible_since = None
            self._jobs.note(job, E.HELD, reason=message.reason or "On hold by its owner")

    def release(self, message: ReleaseAsked) -> None:
        """Match a job on hold again, as if it were new."""
        job = self._arrivals.known(message.job)
        if job is not None and job.record.state is S.WAITING and job.record.held:
            job.fresh()
            self._jobs.note(job, E.RELEASED, reason="Released by its owner")
            self._queue.again.append(job)
