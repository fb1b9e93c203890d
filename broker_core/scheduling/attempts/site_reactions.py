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
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.ends import AttemptEnds, has_run
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.reputation_feedback import SILENT
from broker_core.scheduling.attempts.start_deadlines import StartDeadlines
from broker_core.scheduling.effects import Confirm, LateMessage, of_components
from broker_core.scheduling.live_job import (
    AT_SITE,
    HANDING_OVER,
    HELD,
    STARTS_ITSELF,
    AtSite,
    InDoubt,
    LiveJob,
)
from broker_core.scheduling.messages import LinkChanged
from broker_core.scheduling.state import SchedulerState
from broker_core.scheduling.wording import IN_QUEUE, in_words

_WHOLE = 1.0
"""Nodes tell whole seconds."""
S, E, FROM = members(JobState), members(EventType), members(EventSource)
_WAITS = "The site keeps it waiting"
_OVER = (AttemptEnded, AttemptRefused)


def start_of(record: JobRecord, reported: float) -> float:
    """When a program started: not before its site was chosen, for that is recorded first.

    That the site has it may have been learned long after the start, if this broker was away.
    """
    began, had = max(reported, record.matched or 0.0), record.scheduled or 0.0
    return had if 0.0 < had - began < _WHOLE else began


def with_own_time(record: JobRecord, message: AttemptEnded, now: float) -> AttemptEnded:
    """The end by the clock that recorded the start; how long it ran is the node's word. `now`: wall clock."""
    began, reported, ended = record.started or 0.0, message.started, message.time
    if reported is not None and reported < began:
        ended = min(now, ended + began - reported)
    ended = max(ended, began, record.matched or 0.0)
    return message if ended == message.time else replace(message, time=ended)


class SiteReactions:
    """Carries an attempt on from what its site says; every message is legal in every state."""

    def __init__(
        self, state: SchedulerState, fences: Fences, starts: StartDeadlines, ends: AttemptEnds
    ) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._queue = state.queue
        self._fences = fences
        self._starts = starts
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

    def handle(self, message: AttemptReport) -> None:
        """React to a message; one that is late, repeated or of an older attempt can only end that attempt."""
        component = message.component
        job = self._jobs.live.get(component.job)
        # Spelled out here: Python 3.11 takes a property the long way, and every word of a site comes here.
        if job is not None and job.record.state in AT_SITE and component.attempt == job.record.attempt:
            self._ways[type(message)](job, message)
            return
        if isinstance(message, AttemptFound):
            return
        self._fence(message)
        if isinstance(message, AttemptAccepted | AttemptRuns | AttemptWaits | AgentReady):
            return
        if job is None:
            self._jobs.effects.append(LateMessage(message, in_words(message)))
        else:
            self._late(job, message)

    def link_changed(self, message: LinkChanged) -> None:
        """A site can be used, or not, from now on; jobs there stay as they are (reliability case 8)."""
        now = self._jobs.now.monotonic
        site, usable = message.site, message.usable
        state, reason = message.state, message.reason
        self._cache.link_changed(site, state, reason, now, usable=usable, most=message.most)
        if usable:
            ces = set(self._cache.of_site(site))
            self._fences.contact(ces)
            self._starts.contact(ces)
            for job in self._jobs.live.values():
                if job.held and job.record.state is S.SCHEDULED and not ces.isdisjoint(job.ces):
                    self._confirm(job)
        self._queue.again.extend(self._queue.awaiting.values())

    def adopt(self, job: LiveJob) -> None:
        """Go on with an attempt that was at a site before the broker's restart."""
        state = job.record.state
        if state is S.READY:
            job.attempt = HANDING_OVER
        else:
            job.attempt = HELD if state is S.SCHEDULED else STARTS_ITSELF
        if state is S.RUNNING:
            self._cache.started(job.id)
        if job.canceling:
            self._fences.end(job.record)
        elif state is S.SCHEDULED:
            self._starts.queued(job)
            self._confirm(job)

    def _fence(self, message: AttemptReport) -> None:
        """What no job has any more must end, if it is there."""
        key = message.component.job, message.component.attempt
        if isinstance(message, _OVER):
            self._fences.over(key)
        else:
            self._fences.alive(key)

    def _late(self, job: LiveJob, message: AttemptReport) -> None:
        self._jobs.note(
            job,
            E.MESSAGE_LATE,
            FROM.AL,
            attempt=message.component.attempt,
            reason=in_words(message),
            details={"message": message.name},
        )

    def _accepted(self, job: LiveJob, message: AttemptAccepted) -> None:
        if not isinstance(job.attempt, AtSite):
            job.attempt = HELD if message.held else STARTS_ITSELF
        elif job.attempt.held is not message.held:
            job.attempt = replace(job.attempt, held=message.held)
        if job.record.state is S.READY:
            now = self._jobs.now.monotonic
            for ce in job.ces:
                self._cache.worked(ce, now)
            self._cache.answered(job.id, now)
            details = {"site_id": message.site_id} if message.site_id else {}
            self._jobs.note(job, E.SCHEDULED, FROM.AL, resources=job.ces, reason=IN_QUEUE, details=details)
            self._starts.queued(job)
            if job.canceling:
                self._fences.end(job.record)
        if job.record.state is S.SCHEDULED:
            self._confirm(job)

    def _found(self, job: LiveJob, message: AttemptFound) -> None:
        """Of what is not handed over again that is the acceptance (reliability cases 2 and 24)."""
        if isinstance(job.attempt, InDoubt) and not job.canceling:
            self._accepted(job, AttemptAccepted(message.component, message.site_id, held=True))

    def _confirm(self, job: LiveJob) -> None:
        """Let a held attempt start, now that it is known to be there."""
        if job.held and not (job.canceling or job.given_up):
            self._jobs.effects.extend(of_components(Confirm, job.record))

    def _refused(self, job: LiveJob, message: AttemptRefused) -> None:
        if job.record.state is S.READY:
            self._ends.refused(job, message)
        else:
            self._late(job, message)

    def _runs(self, job: LiveJob, message: AttemptRuns) -> None:
        self._catch_up(job)
        if job.record.state is S.SCHEDULED and job.runs_since is None:
            self._starts.runs(job)

    def _waits(self, job: LiveJob, message: AttemptWaits) -> None:
        self._catch_up(job)
        reason = f"{_WAITS}: {message.reason}" if message.reason else IN_QUEUE
        if job.record.state is S.SCHEDULED and job.record.reason != reason:
            self._jobs.note(job, E.KEPT_WAITING, FROM.AL, resources=job.ces, reason=reason)

    def _started(self, job: LiveJob, message: AttemptStarted) -> None:
        if job.record.state is S.RUNNING:
            self._late(job, message)
            return
        self._catch_up(job)
        self._cache.started(job.id)
        details = {"node": message.node} if message.node else {}
        self._jobs.note(
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
            self._jobs.note(job, E.AGENT_READY, FROM.IA, resources=where, reason=reason, details=details)

    def _catch_up(self, job: LiveJob) -> None:
        """A site that speaks of an attempt has it, even if its acceptance was lost."""
        if job.record.state is S.READY:
            self._accepted(job, AttemptAccepted(job.record.component))

    def _ended(self, job: LiveJob, message: AttemptEnded) -> None:
        if self._fences.asked:
            self._fences.over((message.component.job, message.component.attempt))
        now = self._jobs.now.wall
        if job.canceling:
            self._ends.canceled(job, with_own_time(job.record, message, now))
            return
        if has_run(message) and job.record.state is not S.RUNNING:
            began = message.time if message.started is None else message.started
            self._started(job, AttemptStarted(message.component, began))
        if job.record.state is S.RUNNING:
            self._ends.finished(job, with_own_time(job.record, message, now))
        elif isinstance(job.attempt, InDoubt) and message.failure in SILENT:
            self._ends.never_arrived(job, message)
        else:
            self._catch_up(job)
            self._ends.early(job, message)
