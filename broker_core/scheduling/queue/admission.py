"""Where a waiting job belongs: to a site at once, into the queue, aside, or to its end."""

from __future__ import annotations

import math

from broker_core.jobs.events import EventSource
from broker_core.jobs.members import members
from broker_core.jobs.placement import SLOT_SYSTEM, computing_element, listed, slots_at
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import SlotsUnheard
from broker_core.scheduling.parts import seen_by
from broker_core.scheduling.queue.scheduling_pass import SchedulingPass
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.state import SchedulerState

E = members(EventType)
_COUNTED = 4
"""Places that are counted in the reason of a refusal."""
PATIENCE = 30.0
"""Seconds that an interactive job waits for a site that is being connected, as after a start."""


class Admission:
    """Sorts jobs that wait, and takes them out again."""

    def __init__(
        self, state: SchedulerState, selector: Selector, attempts: Attempts, rounds: SchedulingPass
    ) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._rules = state.rules
        self._queue = state.queue
        self._decisions = state.decisions
        self._selector = selector
        self._eligibility = state.eligibility
        self._attempts = attempts
        self._pass = rounds

    def sort_in(self, job: LiveJob) -> None:
        """Queue a waiting job, or park it if nothing known could ever run it; an interactive one starts now
        or ends (CB-SCH-02, CB-SCH-08). One that waits for others of its batch is kept aside."""
        if not self._jobs.limits.admit(job):
            return
        eligible = self._eligibility.of(job.demand)
        usable = eligible.ever and (not job.excluded or self._selector.has_others(job.demand, job.excluded))
        reason = self._cache.unheard(job.demand.site) or eligible.reason
        if job.record.interactive:
            self._start_or_end(job, reason if not eligible.ever else "")
        elif usable:
            job.infeasible_since = None
            # A set is searched for in a slice of its own: that one could ever be found took a search already.
            if self._queue.jobs or job.demand.inter_cluster or not self._assign(job):
                self._queue.add(job)
        elif eligible.ever:
            self._exhausted(job)
        else:
            self._park(job, f"No site fits: {reason}")

    def _assign(self, job: LiveJob) -> bool:
        """Send a job that nobody is before on its way, if anything can take it."""
        now = self._jobs.now.monotonic
        choice = self._selector.choose(job.demand, job.excluded, now, seed=job.record.position)
        return choice is not None and self._attempts.assign(job, choice)

    def _start_or_end(self, job: LiveJob, reason: str) -> None:
        if self._assign(job):
            return
        if (sites := self._cache.awaited(job.demand.site)) and self._may_wait(job):
            self._wait_for(job, sites)
        elif reason:
            refusal = (
                f"An interactive job cannot start here at once: {reason}. Submit it as a batch job, or again"
            )
            self.end(job, f"{refusal} when a site can take it")
        else:
            refusal = "An interactive job starts at once or not at all: every matching resource is busy"
            self.end(job, f"{refusal}{self._counts(job)}. Submit it again later, or as a batch job")

    def _counts(self, job: LiveJob) -> str:
        """How many processors or virtual slots are free of how many, where a job could run; none that are
        known: nothing."""
        pool = self._selector.pool(job.demand, self._jobs.now.monotonic)
        mode, counts = self._rules.interactive_mode, []
        in_parts = seen_by(job.demand.description, pool, self._cache.board, mode) is not pool
        for row in self._eligibility.of(job.demand).ever_rows[:_COUNTED].tolist():
            one = computing_element(pool.columns.ces[row])
            unit = "slots" if one.system == SLOT_SYSTEM else "CPUs"
            count = f"{one.site}: {pool.free[row]} of {pool.total[row]} {unit}"
            at = pool.columns.row_of(slots_at(one.id)) if in_parts else None
            if at is not None:
                count += f" and {pool.free[at]} of {pool.total[at]} slots"
            counts.append(f"{count} free")
        return f" ({'; '.join(counts)})" if counts else ""

    def _end_of_patience(self) -> float:
        """When the next of the jobs that wait for a site has waited long enough; monotonic."""
        if not self._queue.awaiting:
            return math.inf
        return min(job.infeasible_since or 0.0 for job in self._queue.awaiting.values()) + PATIENCE

    def _may_wait(self, job: LiveJob) -> bool:
        since, now = job.infeasible_since, self._jobs.now.monotonic
        return since is None or now < since + PATIENCE

    def _wait_for(self, job: LiveJob, sites: list[str]) -> None:
        """Let an interactive job wait a moment for sites that are not known yet."""
        if job.infeasible_since is None:
            job.infeasible_since = self._jobs.now.monotonic
        self._queue.wait_for_site(job)
        if self._cache.links.slots_unheard.issuperset(sites):
            reason = f"Waits a moment for word of the slots at {listed(sites)}"
        else:
            reason = f"Waits a moment for {listed(sites)} to be connected"
        if job.record.reason != reason:
            self.decided(job, "postponed", reason)
            self._jobs.note(job, E.POSTPONED, EventSource.RS, reason=reason)

    def slots_unheard(self, message: SlotsUnheard) -> None:
        """Other sites than before are those whose slots are not known yet: who waited for one looks again."""
        self._cache.links.slots_unheard = frozenset(message.sites)
        self._queue.again.extend(self._queue.awaiting.values())

    def expire(self) -> None:
        """Abort jobs that nothing known can run for too long, and look again at those whose patience ends."""
        now = self._jobs.now.monotonic
        for job in list(self._queue.parked.values()):
            since = job.infeasible_since
            if since is not None and now - since >= self._rules.infeasible_timeout:
                self.end(job, f"No site fits: {self._eligibility.of(job.demand).reason}")
        if self._end_of_patience() <= now:
            self._queue.again.extend(self._queue.awaiting.values())

    def next_expiry(self) -> float:
        """When `expire` has something to do, monotonic; infinity: never."""
        moment = self._end_of_patience()
        if self._queue.parked:
            # Parked jobs keep the order in which they were parked.
            since = next(iter(self._queue.parked.values())).infeasible_since
            first = self._jobs.now.monotonic if since is None else since
            moment = min(moment, first + self._rules.infeasible_timeout)
        return moment

    def _exhausted(self, job: LiveJob) -> None:
        tried = "; ".join(dict.fromkeys(map(str, job.tried[-10:])))
        reason = f"It could not be started on any resource that matches. Tried: {tried}"
        self.end(job, reason, {"tried": [one.details() for one in job.tried[-50:]]})

    def end(self, job: LiveJob, reason: str, details: dict[str, object] | None = None) -> None:
        """Abort a job that waits."""
        self.leave(job)
        self.decided(job, "aborted", reason)
        self._jobs.note(job, E.ABORTED, reason=reason, details=details)

    def _park(self, job: LiveJob, reason: str) -> None:
        if job.infeasible_since is None:
            job.infeasible_since = self._jobs.now.monotonic
        self.leave(job)
        self._queue.park(job)
        if job.record.reason != reason:
            self.decided(job, "infeasible", reason)
            self._jobs.note(job, E.POSTPONED, EventSource.RS, reason=reason)

    def leave(self, job: LiveJob) -> None:
        """The job waits no more, or is on hold."""
        self._pass.leave(job)

    def decided(self, job: LiveJob, what: str, reason: str) -> None:
        """Note a decision about a job."""
        known = len(self._cache.entries)
        self._decisions.add(
            self._jobs.now.wall, job.id, job.record.name, what, reason=reason, considered=known
        )
