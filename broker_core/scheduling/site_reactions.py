"""What the Scheduling Agent does when a site speaks: CB-LIFE-02 and the reactions of CB-ERR-1 to 6."""

from __future__ import annotations

import math
import signal as signals
from collections.abc import Callable
from typing import Any

from broker_core.jobs.events import Source
from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.resources.cache import ResourceCache
from broker_core.scheduling.choosing import Choice, Chooser
from broker_core.scheduling.decisions import Decisions
from broker_core.scheduling.effects import Cancel, Confirm, Stray, Submit
from broker_core.scheduling.ledger import Ledger
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import (
    AttemptEnded,
    AttemptStarted,
    LinkChanged,
    SiteAccepted,
    SiteMessage,
    SiteRefused,
    SiteRuns,
)
from broker_core.scheduling.rules import Rules
from broker_core.scheduling.waiting import WaitingJobs

S, E = JobState, EventType
_SAME_ANYWHERE = frozenset({"executable-missing", "refused-second-start"})
"""Failures before the start that a second try on the same resource cannot mend."""

_AFTER_START = frozenset({"upload", "wall-limit", "output-limit"})
"""Failures that only an application that ran can meet."""


class SiteReactions:
    """Carries an attempt from the choice of a resource to its end."""

    def __init__(
        self,
        ledger: Ledger,
        cache: ResourceCache,
        chooser: Chooser,
        waiting: WaitingJobs,
        decisions: Decisions,
        rules: Rules,
    ) -> None:
        self._ledger = ledger
        self._cache = cache
        self._chooser = chooser
        self._waiting = waiting
        self._decisions = decisions
        self._rules = rules
        self._canceling: dict[str, LiveJob] = {}
        self._ways: dict[type, Callable[[LiveJob, Any], None]] = {
            SiteAccepted: self._accepted,
            SiteRefused: self._refused,
            SiteRuns: self._runs,
            AttemptStarted: self._started,
            AttemptEnded: self._ended,
        }

    def heard(self, message: SiteMessage) -> None:
        """React to a message; one that is late, repeated or of an older attempt only leaves a record."""
        job = self._ledger.jobs.get(message.job)
        if job is None:
            if not isinstance(message, SiteAccepted):
                self._ledger.effects.append(Stray(message, in_words(message)))
        elif not job.at_site or message.attempt != job.record.attempt:
            self._late(job, message)
        else:
            self._ways[type(message)](job, message)

    def place(self, job: LiveJob, choice: Choice) -> bool:
        """Lock and commit what was chosen for a job: a new attempt begins. False if another job has it."""
        if not self._take(job, choice):
            return False
        job.retried = False
        job.round_tried = ()
        reason = _chosen(choice)
        self._decided(job, "chosen", reason, choice.of)
        self._ledger.note(
            job,
            E.MATCHED,
            attempt=job.record.attempt + 1,
            resources=choice.ces,
            reason=reason,
            details={"choices": choice.of},
        )
        self._ledger.effects.append(Submit(job.record, job.ce))
        return True

    def adopt(self, job: LiveJob) -> None:
        """Take over a job that was at a site before the broker's restart."""
        ces = tuple(job.record.site.split(", "))
        self._commit(job, ces, _shares(job.demand.description.cpus, len(ces)))
        if job.record.state is S.RUNNING:
            self._cache.started(job.id)
        if job.canceling:
            self.ask_cancel(job)
        elif job.record.state is S.READY:
            self._ledger.effects.append(Submit(job.record, job.ce))
        elif job.record.state is S.SCHEDULED:
            job.holds = True
            self._ledger.effects.append(Confirm(job.record, job.ce))

    def link_changed(self, message: LinkChanged) -> None:
        """A site can be used, or not, from now on; jobs there stay as they are (reliability case 8)."""
        now = self._ledger.now.monotonic
        site, usable = message.site, message.usable
        self._cache.link_changed(site, message.state, message.reason, now, usable=usable)
        if usable:
            ces = set(self._cache.of_site(site))
            for job in self._ledger.jobs.values():
                if job.holds and job.record.state is S.SCHEDULED and not ces.isdisjoint(job.ces):
                    self._ledger.effects.append(Confirm(job.record, job.ce))

    def ask_cancel(self, job: LiveJob) -> None:
        """Ask the site to end the job's attempt."""
        job.asked = self._ledger.now.monotonic
        self._canceling[job.id] = job
        self._ledger.effects.append(Cancel(job.record, job.ce))

    def ask_again(self) -> None:
        """Repeat every cancel that no site has confirmed in time."""
        now = self._ledger.now.monotonic
        for job in list(self._canceling.values()):
            if not job.at_site:
                del self._canceling[job.id]
            elif now - job.asked >= self._rules.cancel_again:
                self.ask_cancel(job)

    @property
    def canceling(self) -> bool:
        """True while a site has been asked to cancel something."""
        return bool(self._canceling)

    def next_question(self) -> float:
        """When the next cancel has to be asked again; infinity: never."""
        asked = (job.asked for job in self._canceling.values() if job.at_site)
        return min(asked, default=math.inf) + self._rules.cancel_again

    def _take(self, job: LiveJob, choice: Choice) -> bool:
        if not self._cache.lock(choice.ces, job.id, self._ledger.now.monotonic):
            return False
        self._commit(job, choice.ces, choice.cpus)
        return True

    def _commit(self, job: LiveJob, ces: tuple[str, ...], cpus: tuple[int, ...]) -> None:
        self._waiting.remove(job)
        job.ces, job.cpus = ces, cpus
        for ce, given in zip(ces, cpus, strict=True):
            self._cache.commit(ce, job.id, given, self._ledger.now.monotonic)

    def _release(self, job: LiveJob) -> None:
        if job.ces:
            self._cache.release(job.id, self._ledger.now.monotonic)
            job.ces = job.cpus = ()

    def _decided(self, job: LiveJob, what: str, reason: str, matching: int = 0) -> None:
        self._decisions.add(
            self._ledger.now.wall,
            job.id,
            job.record.name,
            what,
            job.ces,
            reason,
            len(self._cache.entries),
            matching,
        )

    def _late(self, job: LiveJob, message: SiteMessage) -> None:
        if isinstance(message, SiteAccepted):
            return
        self._ledger.note(
            job,
            E.MESSAGE_LATE,
            Source.AL,
            attempt=message.attempt,
            reason=in_words(message),
            details={"message": message.name},
        )

    def _accepted(self, job: LiveJob, message: SiteAccepted) -> None:
        job.holds = message.held
        if job.record.state is S.SCHEDULED:
            self._confirm(job)
        if job.record.state is not S.READY:
            return
        now = self._ledger.now.monotonic
        for ce in job.ces:
            self._cache.worked(ce, now)
        self._cache.answered(job.id, now)
        details = {"site_id": message.site_id} if message.site_id else {}
        self._ledger.note(
            job, E.SCHEDULED, Source.AL, resources=job.ces, reason="In the site's queue", details=details
        )
        self._confirm(job)
        if job.canceling:
            self.ask_cancel(job)

    def _confirm(self, job: LiveJob) -> None:
        """Let a held attempt start, now that it is known to be there."""
        if job.holds and not job.canceling:
            self._ledger.effects.append(Confirm(job.record, job.ce))

    def _runs(self, job: LiveJob, message: SiteRuns) -> None:
        self._catch_up(job)

    def _refused(self, job: LiveJob, message: SiteRefused) -> None:
        if job.record.state is not S.READY:
            self._late(job, message)
            return
        now = self._ledger.now.monotonic
        ce, ces = job.ce, job.ces
        for one in ces:
            self._cache.failed(one, now, message.reason, counts=message.counts, down=message.down)
        self._release(job)
        if job.canceling:
            self._ledger.note(job, E.CANCELED, reason="Canceled by its owner before a site had it")
            return
        job.round_tried += ces
        if not self._next_choice(job, ce, message.reason):
            self._ledger.note(job, E.LIST_EXHAUSTED, reason=f"{ce} refused it: {message.reason}")
            self._wait_again(job, f"{ce}: {message.reason}", counts=message.counts)

    def _next_choice(self, job: LiveJob, failed: str, why: str) -> bool:
        """The next of the list (CB-SCH-10), as far as it still has room; False where none is left.

        What was tried in this round is not tried again before the whole selection is (SA-LCH-02).
        """
        now = self._ledger.now.monotonic
        choice = self._chooser.choose(job.demand, job.excluded.union(job.round_tried), now)
        if choice is None or not self._take(job, choice):
            return False
        job.tried += (f"{failed}: {why}",)
        reason = f"{failed} refused it: {why}; trying {job.ce}"
        self._decided(job, "next-choice", reason, choice.of)
        self._ledger.note(
            job,
            E.CHOICE_FAILED,
            attempt=job.record.attempt + 1,
            resources=choice.ces,
            reason=reason,
            details={"failed": failed},
        )
        self._ledger.effects.append(Submit(job.record, job.ce))
        return True

    def _wait_again(self, job: LiveJob, trouble: str, *, counts: bool = True) -> None:
        job.tried += (trouble,)
        job.round_tried = ()
        job.rounds += counts
        self._decided(job, "re-matched", trouble)
        if job.rounds > self._rules.max_rematch:
            self._ledger.note(
                job,
                E.ABORTED,
                reason=f"Given up after {self._rules.max_rematch} rounds of matching. Tried: "
                + "; ".join(job.tried[-10:]),
                details={"tried": list(job.tried[-50:])},
            )
        else:
            self._waiting.add(job)

    def _started(self, job: LiveJob, message: AttemptStarted) -> None:
        if job.record.state is S.RUNNING:
            if not message.asked:
                self._late(job, message)
            return
        self._catch_up(job)
        self._cache.started(job.id)
        details = {"node": message.node} if message.node else {}
        self._ledger.note(
            job,
            E.RUNNING,
            Source.JS,
            time=message.time,
            resources=job.ces,
            reason="The application started",
            details=details,
        )

    def _catch_up(self, job: LiveJob) -> None:
        """A site that speaks of an attempt has it, even if its acceptance was lost."""
        if job.record.state is S.READY:
            self._accepted(job, SiteAccepted(job.id, job.record.attempt))

    def _ended(self, job: LiveJob, message: AttemptEnded) -> None:
        canceling = job.canceling
        if not canceling:
            self._catch_up(job)
            if _has_run(message) and job.record.state is S.SCHEDULED:
                began = message.time if message.started is None else message.started
                self._started(job, AttemptStarted(job.id, message.attempt, began))
        if canceling:
            self._release(job)
            self._note_end(job, message, E.CANCELED, "Canceled by its owner")
        elif job.record.state is S.RUNNING:
            self._release(job)
            self._finished(job, message)
        else:
            self._ended_early(job, message)

    def _finished(self, job: LiveJob, message: AttemptEnded) -> None:
        if message.signal is None and message.exit_code is not None and not message.failure:
            self._note_end(job, message, E.DONE, f"Exit code {message.exit_code}")
        else:
            self._note_end(job, message, E.ABORTED, _abnormal(job, message))

    def _note_end(self, job: LiveJob, message: AttemptEnded, type_: EventType, reason: str) -> None:
        self._ledger.note(
            job, type_, Source.JS, time=message.time, reason=reason, details=_end_details(message)
        )

    def _ended_early(self, job: LiveJob, message: AttemptEnded) -> None:
        """The application never started: once more here, then elsewhere (CB-ERR-3)."""
        why = message.reason or message.failure or "it ended before the application started"
        details = _end_details(message)
        if not job.retried and message.failure not in _SAME_ANYWHERE:
            job.retried = True
            self._ledger.note(
                job,
                E.RETRIED,
                attempt=job.record.attempt + 1,
                resources=job.ces,
                reason=f"Once more on the same resource: {why}",
                details=details,
            )
            self._ledger.effects.append(Submit(job.record, job.ce))
            return
        ce = job.ce
        job.excluded |= set(job.ces)
        self._release(job)
        self._ledger.note(job, E.REMATCHED, reason=f"Given up at {ce}: {why}", details=details)
        self._wait_again(job, f"{ce}: {why}")


def in_words(message: SiteMessage) -> str:
    """A site's message for a record that it came late."""
    which = f"attempt {message.attempt}"
    if isinstance(message, AttemptStarted):
        return f"Late message: {which} has started"
    if isinstance(message, AttemptEnded):
        code = f", exit code {message.exit_code}" if message.exit_code is not None else ""
        return f"Late message: {which} has ended{code}"
    if isinstance(message, SiteRefused):
        return f"Late message: {which} was refused: {message.reason}"
    return f"Late message: {which} was accepted"


def _has_run(message: AttemptEnded) -> bool:
    """True if the application was started; then it must never be started again.

    On a full disk its site may know the exit code but not the moment of the start.
    """
    if message.started is not None or message.exit_code is not None or message.signal is not None:
        return True
    return message.failure in _AFTER_START


def _abnormal(job: LiveJob, message: AttemptEnded) -> str:
    if message.reason:
        return message.reason
    if message.signal is not None:
        return f"The application was ended by {_signal_name(message.signal)} at {site_name(job.record.site)}"
    why = message.failure or "no exit code is known"
    return f"The application ended abnormally at {site_name(job.record.site)}: {why}"


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signals.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _end_details(message: AttemptEnded) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "exit_code": message.exit_code,
        "signal": message.signal,
        "failure": message.failure,
        "usage": message.usage,
    }
    return {name: value for name, value in facts.items() if value not in (None, "", {})}


def _chosen(choice: Choice) -> str:
    where = site_name(", ".join(choice.ces))
    return f"Chosen: {where}" + (f", the first of {choice.of}" if choice.of > 1 else "")


def _shares(cpus: int, sites: int) -> tuple[int, ...]:
    """Processors at each site, as equal as can be: the true shares are not known after a restart."""
    return tuple(cpus // sites + (place < cpus % sites) for place in range(sites))
