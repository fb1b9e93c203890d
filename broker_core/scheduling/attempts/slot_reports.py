"""What becomes of payloads in slots, told as their sites would tell it of attempts (CB-GLI-14, CB-GLI-15)."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptEnded, AttemptRefused
from broker_core.jobs.states import JobState
from broker_core.scheduling.attempts.reports import AttemptReports
from broker_core.scheduling.slots.effects import (
    GlideinUnavailable,
    PayloadLost,
    PayloadReturned,
    SlotsRefused,
    SpareMachines,
)
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.state import SchedulerState


class SlotReports:
    """Passes on what has no marker of a Job Starter: those that began tell of themselves."""

    def __init__(self, state: SchedulerState, reports: AttemptReports) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._reports = reports

    def refused(self, message: SlotsRefused) -> None:
        """No slot is free: the next choice may be tried."""
        for payload in message.payloads:
            if self._state(payload) is JobState.READY:
                self._reports.handle(AttemptRefused(payload.component, message.reason, counts=False))

    def unavailable(self, message: GlideinUnavailable | PayloadReturned) -> None:
        """It never began in its slot."""
        if self._state(message.payload) is JobState.READY:
            refusal = AttemptRefused(message.payload.component, message.reason, counts=False)
            self._reports.handle(refusal)
        else:
            blameless = isinstance(message, PayloadReturned) and message.blameless
            self._end(message.payload, "made-room" if blameless else "starter", message.reason)

    def lost(self, message: PayloadLost) -> None:
        """Nothing of it can run any more; that of a canceled job, or one that is over, changes nothing."""
        self._end(message.payload, "lease", message.reason)

    def spare(self, message: SpareMachines) -> None:
        """Machines are held for no batch job, or are no longer."""
        self._cache.hold(message.ce, message.cpus)

    def _end(self, payload: Payload, failure: str, reason: str) -> None:
        if self._state(payload) is not None:
            end = AttemptEnded(payload.component, self._jobs.now.wall, failure=failure, reason=reason)
            self._reports.handle(end)

    def _state(self, payload: Payload) -> JobState | None:
        """State of the job of a payload; None where it has another attempt by now, or is over."""
        job = self._jobs.live.get(payload.component.job)
        if job is None or job.record.attempt != payload.component.attempt:
            return None
        return job.record.state
