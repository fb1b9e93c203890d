"""Attempts over several computing elements: what the co-allocation decides, as steps and orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from broker_core.jobs.attempt_events import AttemptEnded, AttemptRefused
from broker_core.jobs.components import OVERLAY, PLAN, TRAFFIC
from broker_core.jobs.events import EventSource
from broker_core.jobs.failure_history import FailureHistory
from broker_core.jobs.members import members
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.reactor.entities import RecordEvent
from broker_core.reactor.reactor import TimerFired, Wake
from broker_core.scheduling.attempts.component_steps import ComponentSteps
from broker_core.scheduling.coallocation.coallocations import Coallocation
from broker_core.scheduling.coallocation.life import CoallocationEvent, CoallocationState
from broker_core.scheduling.coallocation.messages import (
    CancelComponent,
    CoallocationCanceled,
    CoallocationEnded,
    CoallocationRecovered,
    CoallocationStarted,
    ConfirmComponent,
    EndLauncher,
    OfferComponent,
    Reaction,
    ReleaseBarrier,
    TrafficCounted,
)
from broker_core.scheduling.effects import Cancel, Confirm, Submit
from broker_core.scheduling.live_job import HANDING_OVER, STARTS_ITSELF, LiveJob
from broker_core.scheduling.state import SchedulerState

S, E, FROM = members(JobState), members(EventType), members(EventSource)
_STATES = {
    JobState.READY: CoallocationState.SUBMITTING,
    JobState.SCHEDULED: CoallocationState.GATHERING,
    JobState.RUNNING: CoallocationState.RUNNING,
}
"""Where a co-allocation is, by the state of its job."""
_ORDERS: dict[type, type[Submit] | type[Confirm] | type[Cancel]] = {
    OfferComponent: Submit,
    ConfirmComponent: Confirm,
    CancelComponent: Cancel,
}
PLANS = {
    Reaction.REMATCH_DOWN: "The site counts as down; the next choice is tried",
    Reaction.REMATCH_RESTING: "The site rests for a while; the next choice is tried",
    Reaction.REPEAT: "Once more at the same sites",
    Reaction.REMATCH_WITHOUT: "Elsewhere, as a firewall may be in the way between these sites",
    Reaction.REMATCH: "Matched again from the beginning",
    Reaction.ABORT: "The job is aborted",
    Reaction.HOLD: "The job is put on hold",
}
"""What follows an attempt that has failed, in words (Table 4.1)."""
FirstFailure = AttemptEnded | AttemptRefused


class SeveralSites:
    """Drives the reactor of co-allocations for the jobs that have several computing elements.

    Its steps are recorded as those of the job: all accepted is Scheduled, the released barrier is Running.
    """

    def __init__(self, state: SchedulerState) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._interactive_start = state.rules.interactive_start
        self._reactor = state.coallocations
        self._wake = math.inf
        self._over: list[CoallocationEnded] = []
        self._failures: dict[str, FirstFailure] = {}
        self._steps = ComponentSteps(state.jobs)

    @property
    def live(self) -> dict[str, Coallocation]:
        """By job; to be read only."""
        return self._reactor.live

    def begin(self, job: LiveJob) -> None:
        """The job has its computing elements: its components are handed over."""
        record = job.record
        within = self._gather_timeout(job)
        self.tell(CoallocationStarted(job.id, record.attempt, record.owner, job.placements, within))

    def adopt(self, job: LiveJob, past: FailureHistory, suspected: str = "") -> None:
        """Go on after a start of the broker; `past`: what the events of the job say. `suspected`: why nothing
        of it is handed over again; empty: it is."""
        record = job.record
        job.attempt = HANDING_OVER if record.state is S.READY else STARTS_ITSELF
        if record.state is S.RUNNING:
            self._cache.started(job.id)
        where = _STATES[record.state]
        self._steps.recovered(record, past.component_steps)
        placements, repeated = job.placements, past.retried
        self.tell(
            CoallocationRecovered(
                job.id, record.attempt, record.owner, placements, where, repeated, suspected,
                self._gather_timeout(job),
            )
        )  # fmt: skip
        if job.canceling:
            self.tell(CoallocationCanceled(job.id))

    def _gather_timeout(self, job: LiveJob) -> float:
        """Of an interactive job, which does not wait at its sites (CB-SCH-08); 0: that of all others."""
        return self._interactive_start if job.record.interactive else 0.0

    def tell(self, event: Any) -> Sequence[CoallocationEnded]:
        """Let the reactor hear something; what is over with it."""
        one = self._about(event)
        ending = one is None or one.state is CoallocationState.ENDING
        effects = self._reactor.handle(event, self._jobs.now)
        if one is not None:
            self._steps.note(self._jobs.live[one.job], event)
            if isinstance(event, FirstFailure) and not ending and one.state is CoallocationState.ENDING:
                self._failures[one.job] = event
        for effect in effects:
            self._carry(effect)
        over, self._over = self._over, []
        return over

    def failure(self, job: str) -> FirstFailure | None:
        """What made a co-allocation fail, once."""
        return self._failures.pop(job, None)

    def due(self) -> float:
        """When the time brings something about, monotonic; infinity: never."""
        return self._wake

    def expire(self, message: TimerFired) -> Sequence[CoallocationEnded]:
        """Do what is due."""
        if not self.live:
            return ()
        self._wake = math.inf
        return self.tell(message)

    def counted(self, message: TrafficCounted) -> None:
        """Record what has passed between the components; what comes after the end of an attempt is lost."""
        job = self._jobs.live.get(message.job)
        one = self.live.get(message.job)
        if job is None or one is None or message.attempt != job.record.attempt:
            return
        reason = f"{sum(sent for sent, _ in message.figures):,} bytes between its sites, by way of the broker"
        details: dict[str, Any] = {TRAFFIC: [list(each) for each in message.figures]}
        if message.overlay is not None:
            details[OVERLAY] = message.overlay.value
        self._jobs.note(job, E.TRAFFIC_COUNTED, FROM.AL, reason=reason, details=details)

    def _about(self, event: Any) -> Coallocation | None:
        about = getattr(event, "component", event)
        return self.live.get(getattr(about, "job", ""))

    def _carry(self, effect: Any) -> None:
        if isinstance(effect, OfferComponent | ConfirmComponent | CancelComponent):
            job = self._jobs.live[effect.component.job]
            order = _ORDERS[type(effect)](job.record, effect.component, effect.placement.ce)
            self._jobs.effects.append(order)
        elif isinstance(effect, Wake):
            self._wake = effect.at
        elif isinstance(effect, CoallocationEnded):
            self._over.append(effect)
            self._steps.forget(effect.job)
        elif isinstance(effect, RecordEvent):
            self._step(self._jobs.live[effect.event.subject], effect)
        elif isinstance(effect, ReleaseBarrier):
            self._jobs.effects.append(effect)

    def _step(self, job: LiveJob, step: RecordEvent) -> None:
        kind, why = step.event.type, step.event.reason
        if kind is CoallocationEvent.ACCEPTED:
            self._scheduled(job, f"All {len(job.ces)} components are at their sites")
        elif kind is CoallocationEvent.RELEASED:
            self._cache.started(job.id)
            count = len(job.ces)
            reason = f"All {count} components reached MPI_Init, and the barrier was released"
            self._jobs.note(job, E.RUNNING, FROM.AL, resources=job.ces, reason=reason)
        elif kind is CoallocationEvent.ADOPTED:
            self._jobs.note(job, E.LAUNCHER_REPLACED, FROM.AL, reason=why)
        elif kind is CoallocationEvent.REPEATED:
            if job.record.state is S.READY:
                self._scheduled(job, why)
            job.attempt = HANDING_OVER
            job.tries += 1
            reason = f"Once more on the same resources: {why}"
            self._jobs.note(job, E.RETRIED, attempt=job.record.attempt + 1, resources=job.ces, reason=reason)
        elif kind is CoallocationEvent.FAILED:
            self._jobs.effects.append(EndLauncher(job.id, job.record.attempt))
            if not job.canceling:
                for one in job.placements:
                    why = why.replace(one.ce.id, one.ce.site)
                reason = f"{why.rstrip('.')}; all components are ended"
                details = {PLAN: PLANS[step.event.details["reaction"]]}
                self._jobs.note(job, E.GIVEN_UP, FROM.AL, reason=reason, details=details)

    def _scheduled(self, job: LiveJob, reason: str) -> None:
        now = self._jobs.now.monotonic
        for ce in job.ces:
            self._cache.worked(ce, now)
        self._cache.answered(job.id, now)
        job.attempt = STARTS_ITSELF
        self._jobs.note(job, E.SCHEDULED, FROM.AL, resources=job.ces, reason=reason)
