"""Where a waiting job belongs: to a site at once, into the queue, aside, or to its end."""

from __future__ import annotations

import math

from broker_core.jobs.members import members
from broker_core.jobs.transitions import EventType
from broker_core.resources.cache import ResourceCache
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.decisions import Decisions
from broker_core.scheduling.eligibility import EligibilityTable
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.pending_queue import PendingQueue
from broker_core.scheduling.scheduling_pass import SchedulingPass
from broker_core.scheduling.selection import Selector

E = members(EventType)
PATIENCE = 30.0
"""Seconds that an interactive job waits for a site that is being connected, as after a start."""


class Admission:
    """Sorts jobs that wait, and takes them out again."""

    def __init__(
        self,
        ledger: JobTable,
        cache: ResourceCache,
        standings: EligibilityTable,
        chooser: Selector,
        waiting: PendingQueue,
        attempts: Attempts,
        rounds: SchedulingPass,
        decisions: Decisions,
    ) -> None:
        self._ledger = ledger
        self._cache = cache
        self._standings = standings
        self._chooser = chooser
        self._waiting = waiting
        self._attempts = attempts
        self._round = rounds
        self._decisions = decisions

    def sort_in(self, job: LiveJob) -> None:
        """Queue a waiting job, or park it if nothing known could ever run it; an interactive one starts now
        or ends (CB-SCH-02, CB-SCH-08)."""
        standing = self._standings.of(job.demand)
        usable = standing.ever and (not job.excluded or self._chooser.has_others(job.demand, job.excluded))
        reason = self._cache.unheard(job.demand.site) or standing.reason
        if job.record.interactive:
            self._start_or_end(job, reason if not standing.ever else "")
        elif usable:
            job.infeasible_since = None
            if self._waiting.jobs or not self._place(job):
                self._waiting.add(job)
        elif standing.ever:
            self._exhausted(job)
        else:
            self._park(job, f"No compatible resources: {reason}")

    def _place(self, job: LiveJob) -> bool:
        """Send a job that nobody is before on its way, if anything can take it."""
        now = self._ledger.now.monotonic
        choice = self._chooser.choose(job.demand, job.excluded, now, seed=job.record.position)
        return choice is not None and self._attempts.place(job, choice)

    def _start_or_end(self, job: LiveJob, reason: str) -> None:
        if self._place(job):
            return
        if (sites := self._cache.awaited(job.demand.site)) and self._may_wait(job):
            self._wait_for(job, sites)
        elif reason:
            told = (
                f"An interactive job cannot start here at once: {reason}. Submit it as a batch job, or again"
            )
            self.end(job, f"{told} when a site can take it")
        else:
            told = "An interactive job starts at once or not at all: every matching resource is busy."
            self.end(job, f"{told} Submit it again later")

    def end_of_patience(self) -> float:
        """When the next of the jobs that wait for a site has waited long enough; monotonic."""
        waiting = self._waiting.awaiting.values()
        return min((job.infeasible_since or 0.0 for job in waiting), default=math.inf) + PATIENCE

    def _may_wait(self, job: LiveJob) -> bool:
        since, now = job.infeasible_since, self._ledger.now.monotonic
        return since is None or now < since + PATIENCE

    def _wait_for(self, job: LiveJob, sites: list[str]) -> None:
        """Let an interactive job wait a moment for sites that are not known yet."""
        if job.infeasible_since is None:
            job.infeasible_since = self._ledger.now.monotonic
        self._waiting.wait_for_site(job)
        reason = f"Waits a moment for {', '.join(sites)} to be connected"
        if job.record.reason != reason:
            self.decided(job, "postponed", reason)
            self._ledger.note(job, E.POSTPONED, reason=reason)

    def _exhausted(self, job: LiveJob) -> None:
        tried = "; ".join(dict.fromkeys(job.tried[-10:]))
        reason = f"It could not be started on any resource that matches. Tried: {tried}"
        self.end(job, reason, {"tried": list(job.tried[-50:])})

    def end(self, job: LiveJob, reason: str, details: dict[str, object] | None = None) -> None:
        """Abort a job that waits."""
        self.leave(job)
        self.decided(job, "aborted", reason)
        self._ledger.note(job, E.ABORTED, reason=reason, details=details)

    def _park(self, job: LiveJob, reason: str) -> None:
        if job.infeasible_since is None:
            job.infeasible_since = self._ledger.now.monotonic
        self.leave(job)
        self._waiting.park(job)
        if job.record.reason != reason:
            self.decided(job, "infeasible", reason)
            self._ledger.note(job, E.POSTPONED, reason=reason)

    def leave(self, job: LiveJob) -> None:
        """The job waits no more, or is on hold."""
        self._waiting.remove(job)
        self._round.policy.gone(job.id)

    def decided(self, job: LiveJob, what: str, reason: str) -> None:
        """Note a decision about a job."""
        known = len(self._cache.entries)
        self._decisions.add(
            self._ledger.now.wall, job.id, job.record.name, what, reason=reason, considered=known
        )
