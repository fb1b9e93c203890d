"""What the Scheduling Agent does when a site speaks: CB-LIFE-02, and the reactions of CB-ERR-1, 2 and 7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from broker_core.jobs.attempt_events import (
    AgentReady,
    AttemptAccepted,
    AttemptEnded,
    AttemptFound,
    AttemptRefused,
    AttemptReport,
    AttemptRuns,
    AttemptStarted,
    AttemptWaits,
)
from broker_core.jobs.events import EventSource
from broker_core.jobs.members import members
from broker_core.jobs.placement import listed
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.resources.cache import ResourceCache
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.attempts.ends import AttemptEnds, has_run
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.rematching import Rematching
from broker_core.scheduling.attempts.reputation_feedback import SILENT
from broker_core.scheduling.attempts.start_deadlines import StartDeadlines
from broker_core.scheduling.effects import Confirm, LateMessage, of_components
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import LinkChanged
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.wording import IN_QUEUE, in_words

_WHOLE = 1.0
"""Nodes tell whole seconds."""


def start_of(record: JobRecord, told: float) -> float:
    """When a program started: not before its site was chosen, for that is recorded first.

    That the site has it may have been learned long after the start, if this broker was away.
    """
    began, had = max(told, record.matched or 0.0), record.scheduled or 0.0
    return had if 0.0 < had - began < _WHOLE else began


def with_own_time(record: JobRecord, message: AttemptEnded, now: float) -> AttemptEnded:
    """The end by the clock that recorded the start; how long it ran is the node's word. `now`: wall clock."""
    began, told, ended = record.started or 0.0, message.started, message.time
    if told is not None and told < began:
        ended = min(now, ended + began - told)
    ended = max(ended, began, record.matched or 0.0)
    return message if ended == message.time else replace(message, time=ended)


S, E, FROM = members(JobState), members(EventType), members(EventSource)
_KEPT = "The site keeps it waiting"
_OVER = (AttemptEnded, AttemptRefused)


class SiteReactions:
    """Carries an attempt on from what its site says; every message is legal in every state."""

    def __init__(
        self,
        ledger: JobTable,
        cache: ResourceCache,
        chooser: Selector,
        attempts: Attempts,
        rematching: Rematching,
        fences: Fences,
        overdue: StartDeadlines,
        ends: AttemptEnds,
    ) -> None:
        self._ledger = ledger
        self._cache = cache
        self._chooser = chooser
        self._attempts = attempts
        self._rematching = rematching
        self._fences = fences
        self._overdue = overdue
        self._ends = ends
        self._ways: dict[type, Callable[[LiveJob, Any], None]] = {
            AttemptAccepted: self._accepted,
            AttemptRefused: self._refused,
            AttemptFound: self._found,
            AttemptRuns: self._runs,
            AttemptWaits: self._waits,
            AttemptStarted: self._started,
            AgentReady: self._agent_ready,
            AttemptEnded: self._ended,
        }

    def heard(self, message: AttemptReport) -> None:
        """React to a message; one that is late, repeated or of an older attempt can only end that attempt."""
        job = self._ledger.jobs.get(message.component.job)
        if job is not None and job.at_site and message.component.attempt == job.record.attempt:
            self._ways[type(message)](job, message)
            return
        if isinstance(message, AttemptFound):
            return
        self._fence(message)
        if isinstance(message, AttemptAccepted | AttemptRuns | AttemptWaits | AgentReady):
            return
        if job is None:
            self._ledger.effects.append(LateMessage(message, in_words(message)))
        else:
            self._late(job, message)

    def link_changed(self, message: LinkChanged) -> None:
        """A site can be used, or not, from now on; jobs there stay as they are (reliability case 8)."""
        now = self._ledger.now.monotonic
        site, usable = message.site, message.usable
        state, reason = message.state, message.reason
        self._cache.link_changed(site, state, reason, now, usable=usable, most=message.most)
        if usable:
            ces = set(self._cache.of_site(site))
            self._fences.contact(ces)
            self._overdue.contact(ces)
            for job in self._ledger.jobs.values():
                if job.holds and job.record.state is S.SCHEDULED and not ces.isdisjoint(job.ces):
                    self._confirm(job)

    def adopt(self, job: LiveJob) -> None:
        """Take over a job that was at a site before the broker's restart."""
        self._attempts.adopt(job)
        if job.record.state is S.RUNNING:
            self._cache.started(job.id)
        if job.canceling:
            self._fences.end(job.record)
        elif job.record.state is S.SCHEDULED:
            job.holds = True
            self._overdue.queued(job)
            self._confirm(job)

    def _fence(self, message: AttemptReport) -> None:
        """What no job has any more must end, if it is there."""
        key = message.component.job, message.component.attempt
        if isinstance(message, _OVER):
            self._fences.over(key)
        else:
            self._fences.alive(key)

    def _late(self, job: LiveJob, message: AttemptReport) -> None:
        self._ledger.note(
            job,
            E.MESSAGE_LATE,
            FROM.AL,
            attempt=message.component.attempt,
            reason=in_words(message),
            details={"message": message.name},
        )

    def _accepted(self, job: LiveJob, message: AttemptAccepted) -> None:
        job.holds, job.suspect = message.held, False
        if job.record.state is S.READY:
            now = self._ledger.now.monotonic
            for ce in job.ces:
                self._cache.worked(ce, now)
            self._cache.answered(job.id, now)
            details = {"site_id": message.site_id} if message.site_id else {}
            self._ledger.note(job, E.SCHEDULED, FROM.AL, resources=job.ces, reason=IN_QUEUE, details=details)
            self._overdue.queued(job)
            if job.canceling:
                self._fences.end(job.record)
        if job.record.state is S.SCHEDULED:
            self._confirm(job)

    def _found(self, job: LiveJob, message: AttemptFound) -> None:
        """Of what is not handed over again that is the acceptance (reliability cases 2 and 24)."""
        if job.suspect and not job.canceling:
            self._accepted(job, AttemptAccepted(message.component, message.site_id, held=True))

    def _confirm(self, job: LiveJob) -> None:
        """Let a held attempt start, now that it is known to be there."""
        if job.holds and not (job.canceling or job.given_up):
            self._ledger.effects.extend(of_components(Confirm, job.record))

    def _refused(self, job: LiveJob, message: AttemptRefused) -> None:
        if job.record.state is not S.READY:
            self._late(job, message)
            return
        now = self._ledger.now.monotonic
        failed, ces = job.record, job.ces
        for one in ces:
            self._cache.failed(one, now, message.reason, counts=message.counts, down=message.down)
        self._attempts.release(job)
        self._fence_failed(failed, message)
        if job.canceling:
            self._ledger.note(job, E.CANCELED, reason="Canceled by its owner before a site had it")
            return
        job.round_tried += ces
        where = listed(ces)
        if not self._next_choice(job, where, message.reason):
            trouble = f"{where}: {message.reason}"
            reason = f"{where} refused it: {message.reason}"
            self._rematching.again(job, E.LIST_EXHAUSTED, reason, trouble, counts=message.counts)

    def _fence_failed(self, failed: JobRecord, message: AttemptRefused) -> None:
        """Of a set that one computing element refused the others must be left (CB-ERR-7); a site that did
        not answer may have the attempt."""
        if len(failed.placements) > 1:
            self._fences.end(failed)
        else:
            self._fences.doubt(failed, silent=message.down)

    def _next_choice(self, job: LiveJob, failed: str, why: str) -> bool:
        """The next of the list (CB-SCH-10), as far as it still has room; False where none is left.

        What was tried in this round is not tried again before the whole selection is (SA-LCH-02).
        """
        now = self._ledger.now.monotonic
        choice = self._chooser.choose(job.demand, job.excluded.union(job.round_tried), now)
        if choice is None or not self._attempts.take(job, choice):
            return False
        job.tried += (f"{failed}: {why}",)
        reason = f"{failed} refused it: {why}; trying {job.where}"
        self._attempts.decided(job, "next-choice", reason, choice.of)
        self._attempts.begin(job, E.CHOICE_FAILED, reason, {"failed": failed})
        return True

    def _runs(self, job: LiveJob, message: AttemptRuns) -> None:
        self._catch_up(job)
        if job.record.state is S.SCHEDULED and job.runs_since is None:
            self._overdue.runs(job)

    def _waits(self, job: LiveJob, message: AttemptWaits) -> None:
        self._catch_up(job)
        reason = f"{_KEPT}: {message.reason}" if message.reason else IN_QUEUE
        if job.record.state is S.SCHEDULED and job.record.reason != reason:
            self._ledger.note(job, E.KEPT_WAITING, FROM.AL, resources=job.ces, reason=reason)

    def _started(self, job: LiveJob, message: AttemptStarted) -> None:
        if job.record.state is S.RUNNING:
            self._late(job, message)
            return
        self._catch_up(job)
        self._cache.started(job.id)
        details = {"node": message.node} if message.node else {}
        self._ledger.note(
            job,
            E.RUNNING,
            FROM.JS,
            time=start_of(job.record, message.time),
            resources=job.ces,
            reason="The application started",
            details=details,
        )

    def _agent_ready(self, job: LiveJob, message: AgentReady) -> None:
        if job.record.state is S.RUNNING:
            details = {"node": message.node, "fingerprint": message.fingerprint, "words": message.words}
            reason = message.words or f"The agent's key is {message.fingerprint}"
            where = job.ces
            self._ledger.note(job, E.AGENT_READY, FROM.IA, resources=where, reason=reason, details=details)

    def _catch_up(self, job: LiveJob) -> None:
        """A site that speaks of an attempt has it, even if its acceptance was lost."""
        if job.record.state is S.READY:
            self._accepted(job, AttemptAccepted(job.record.component))

    def _ended(self, job: LiveJob, message: AttemptEnded) -> None:
        if self._fences.asked:
            self._fences.over((message.component.job, message.component.attempt))
        now = self._ledger.now.wall
        if job.canceling:
            self._ends.canceled(job, with_own_time(job.record, message, now))
            return
        if has_run(message) and job.record.state is not S.RUNNING:
            began = message.time if message.started is None else message.started
            self._started(job, AttemptStarted(message.component, began))
        if job.record.state is S.RUNNING:
            self._ends.finished(job, with_own_time(job.record, message, now))
        elif job.suspect and message.failure in SILENT:
            self._ends.never_arrived(job, message)
        else:
            self._catch_up(job)
            self._ends.early(job, message)
