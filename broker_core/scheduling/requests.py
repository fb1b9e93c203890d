"""What owners ask for: cancel, hold, release, run elsewhere (CB-CMD-02)."""

from __future__ import annotations

from collections import deque

from broker_core.jobs.members import members
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.admission import Admission
from broker_core.scheduling.arrivals import Arrivals
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.forced_rematch import ForcedRematch
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import CancelAsked, ElsewhereAsked, HoldAsked, ReleaseAsked, Request

S, E = members(JobState), members(EventType)


class UserRequests:
    """Does what is asked where it has a meaning; elsewhere nothing happens."""

    def __init__(
        self,
        ledger: JobTable,
        arrivals: Arrivals,
        sorting: Admission,
        fences: Fences,
        elsewhere: ForcedRematch,
        unparked: deque[LiveJob],
    ) -> None:
        self._ledger = ledger
        self._arrivals = arrivals
        self._sorting = sorting
        self._fences = fences
        self._elsewhere = elsewhere
        self._unparked = unparked

    def heard(self, message: Request) -> None:
        """Do it."""
        job = self._arrivals.known(message.job)
        if job is None:
            return
        match message:
            case CancelAsked():
                self._cancel(job)
            case HoldAsked():
                self._hold(job, message.reason)
            case ReleaseAsked():
                self._release(job)
            case ElsewhereAsked():
                self._elsewhere.run(job)

    def refusal(self, job_id: str) -> str:
        """Why a job cannot be run elsewhere, in words; empty: it can."""
        job = self._ledger.jobs.get(job_id)
        return "It has ended" if job is None else self._elsewhere.refusal(job)

    def _cancel(self, job: LiveJob) -> None:
        if job.canceling:
            return
        if not job.at_site:
            self._sorting.leave(job)
            self._ledger.note(job, E.CANCELED, reason="Canceled by its owner before it was sent to a site")
            return
        self._ledger.note(job, E.CANCEL_REQUESTED, reason="Its owner asked to cancel it")
        if job.record.state is not S.READY:
            self._fences.end(job.record)

    def _hold(self, job: LiveJob, reason: str) -> None:
        if job.record.state is S.WAITING and not job.record.held:
            self._sorting.leave(job)
            job.infeasible_since = None
            self._ledger.note(job, E.HELD, reason=reason or "On hold by its owner")

    def _release(self, job: LiveJob) -> None:
        if job.record.state is S.WAITING and job.record.held:
            job.fresh()
            self._ledger.note(job, E.RELEASED, reason="Released by its owner")
            self._unparked.append(job)
