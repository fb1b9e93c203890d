"""An attempt over several computing elements is over: what follows for the job (Table 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from broker_core.jobs.attempt_events import AttemptEnded, AttemptRefused
from broker_core.jobs.events import EventSource
from broker_core.jobs.failure_history import ChoiceFailure
from broker_core.jobs.members import members
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.reactor.reactor import TimerFired
from broker_core.scheduling.attempts.ends import DIED
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.rematching import Rematching
from broker_core.scheduling.attempts.several_sites import FirstFailure, SeveralSites
from broker_core.scheduling.coallocation.messages import CoallocationEnded, Reaction
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.state import SchedulerState
from broker_core.scheduling.wording import end_details

S, E, FROM = members(JobState), members(EventType), members(EventSource)
R = Reaction
Way = Callable[[LiveJob, CoallocationEnded, FirstFailure | None], None]
"""Takes the job, the end, and what failed first; None: the time, the launcher or the owner ended it."""


class SeveralEnds:
    """Tells the co-allocations what happens, and does with the job what they react with."""

    def __init__(
        self,
        state: SchedulerState,
        several: SeveralSites,
        rematching: Rematching,
        fences: Fences,
    ) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._several = several
        self._rematching = rematching
        self._fences = fences
        self._ways: dict[Reaction, Way] = {
            R.REMATCH_DOWN: self._failed_there,
            R.REMATCH_RESTING: self._failed_there,
            R.REMATCH_WITHOUT: self._without,
            R.REMATCH: self._again,
            R.ABORT: self._aborted,
            R.HOLD: self._held,
            R.CANCEL: self._canceled,
        }

    def owed(self) -> bool:
        """True while there are any."""
        return bool(self._several.live)

    def due(self) -> float:
        """When the time brings something about, monotonic; infinity: never."""
        return self._several.due()

    def tell(self, event: Any) -> None:
        """Something happened that co-allocations have to know."""
        message = event if isinstance(event, AttemptEnded) else None
        self._settle(self._several.tell(event), message)

    def expire(self, message: TimerFired) -> None:
        """Do what is due."""
        self._settle(self._several.expire(message), None)

    def _settle(self, over: Iterable[CoallocationEnded], message: AttemptEnded | None) -> None:
        for ended in over:
            job, first = self._jobs.live[ended.job], self._several.failure(ended.job)
            if ended.reaction is R.FINISH and message is not None:
                self._finished(job, message)
            else:
                self._fences.doubt(job.record, silent=False)
                self._ways[ended.reaction](job, ended, first)

    def _finished(self, job: LiveJob, message: AttemptEnded) -> None:
        now, learned = self._jobs.now.monotonic, self._cache.reputation
        for ce in job.ces:
            learned.succeeded(ce, job.record.description, now)
        if learned.changed:
            self._cache.heed(now)
        self._rematching.release(job)
        reason = "All components ended with exit code 0"
        self._jobs.note(job, E.DONE, FROM.AL, reason=reason, details=end_details(message))

    def _failed_there(self, job: LiveJob, ended: CoallocationEnded, first: FirstFailure | None) -> None:
        """CB-ERR-1 and 2: the resource is left alone, and the next choice is tried."""
        now = self._jobs.now.monotonic
        counts = not isinstance(first, AttemptRefused) or first.counts
        for ce in ended.resources:
            down = ended.reaction is R.REMATCH_DOWN
            self._cache.failed(ce, now, ended.reason, counts=counts, down=down)
        trouble = ChoiceFailure(ended.resources, _without_names(ended))
        self._count_deaths(job, ended, first)
        job.round_tried += ended.resources
        early = job.record.state is S.READY
        if early:
            self._rematching.release(job)
            if self._rematching.next_choice(job, trouble):
                return
        kind = E.LIST_EXHAUSTED if early else E.REMATCHED
        self._rematching.again(job, kind, ended.reason, trouble, counts=counts, source=FROM.AL)

    def _count_deaths(self, job: LiveJob, ended: CoallocationEnded, first: FirstFailure | None) -> None:
        """What starts a component, or its node, died: this may be the job's doing (reliability case 24)."""
        if not isinstance(first, AttemptEnded):
            return
        sites = tuple(map(self._cache.site_of, ended.resources))
        if job.record.state is S.RUNNING:
            job.died += sites
        elif first.failure in DIED:
            job.died += tuple(site for site in sites if site not in job.died)

    def _held(self, job: LiveJob, ended: CoallocationEnded, _: FirstFailure | None) -> None:
        reason = "The broker died again and again while this job was on its way to its sites"
        hold = f"{reason}: the job may be the cause. Look at it, then release it"
        trouble = ChoiceFailure(job.ces, ended.reason)
        self._rematching.again(job, E.REMATCHED, reason, trouble, counts=False, hold=hold, source=FROM.AL)

    def _without(self, job: LiveJob, ended: CoallocationEnded, _: FirstFailure | None) -> None:
        """CB-ERR-3, again: something between these resources keeps it from its start."""
        self._rematching.exclude(job, ended.resources)
        reason = f"Given up at {job.sites}, a firewall may be in the way: {ended.reason}"
        trouble = ChoiceFailure(job.ces, ended.reason)
        self._rematching.again(job, E.REMATCHED, reason, trouble, source=FROM.AL)

    def _again(self, job: LiveJob, ended: CoallocationEnded, _: FirstFailure | None) -> None:
        trouble = ChoiceFailure(job.ces, ended.reason)
        self._rematching.again(job, E.REMATCHED, ended.reason, trouble, source=FROM.AL)

    def _aborted(self, job: LiveJob, ended: CoallocationEnded, first: FirstFailure | None) -> None:
        """CB-ERR-5."""
        details = end_details(first) if isinstance(first, AttemptEnded) else {}
        self._rematching.release(job)
        self._jobs.note(job, E.ABORTED, FROM.AL, reason=ended.reason, details=details)

    def _canceled(self, job: LiveJob, _: CoallocationEnded, __: FirstFailure | None) -> None:
        self._rematching.release(job)
        self._jobs.note(job, E.CANCELED, FROM.AL, reason="Canceled by its owner; no component is left")


def _without_names(ended: CoallocationEnded) -> str:
    """The reason without the computing element, which is told beside it."""
    return ended.reason.removeprefix(f"{ended.resources[0]}: ") if ended.resources else ended.reason
