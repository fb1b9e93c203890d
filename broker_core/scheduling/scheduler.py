"""The Scheduling Agent: `handle(message, now)` gives the effects that follow (CB-SCH-01 to 12)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import get_args

from broker_core.jobs.attempt_events import AttemptReport
from broker_core.jobs.members import members
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.policies.policy import Policy
from broker_core.policies.queues import QueuePolicy
from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SourceHeard
from broker_core.resources.pool import Pool
from broker_core.resources.reputation import Reputation
from broker_core.scheduling.admission import Admission
from broker_core.scheduling.arrivals import TAKEN_OVER, Arrivals
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.attempts.ends import AttemptEnds
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.forced_rematch import ForcedRematch
from broker_core.scheduling.attempts.recovering import Recovering
from broker_core.scheduling.attempts.rematching import Rematching
from broker_core.scheduling.attempts.site_reactions import SiteReactions
from broker_core.scheduling.attempts.start_deadlines import StartDeadlines
from broker_core.scheduling.cache_update import CacheUpdate
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.decisions import Decisions
from broker_core.scheduling.effects import Ask, Effect, Wake
from broker_core.scheduling.eligibility import EligibilityTable, Match, WorkBudget
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import (
    CancelAsked,
    ElsewhereAsked,
    HoldAsked,
    JobsRecovered,
    LinkChanged,
    Message,
    Now,
    ReleaseAsked,
    ReplicasFound,
    SubmissionRecorded,
    TimerFired,
)
from broker_core.scheduling.pending_queue import PendingQueue
from broker_core.scheduling.questions import Questions, QueuedJob, Why
from broker_core.scheduling.requests import UserRequests
from broker_core.scheduling.scheduling_pass import SchedulingPass
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.shares import FairShares

S, E = members(JobState), members(EventType)
_BY_SITES = get_args(AttemptReport)


class Scheduler:
    """Owns the live jobs. Pure: both clocks come in with messages, `positions` counts the log."""

    def __init__(
        self, match: Match, positions: Callable[[], int], rules: SchedulerConfig | None = None
    ) -> None:
        self._rules = rules = rules or SchedulerConfig()
        self._ledger = JobTable(positions)
        self.cache = _cache(rules)
        """What is known of the resources; to be read only."""
        self.decisions = Decisions(rules.decisions)
        """What was decided lately; to be read only."""
        self._standings = EligibilityTable(self.cache.board, match)
        self._chooser = Selector(self.cache, self._standings, rules)
        self._waiting = PendingQueue()
        shared = self._ledger, self.cache, self._standings, self._chooser, self._waiting
        shares = FairShares()
        attempts = Attempts(self._ledger, self.cache, self._waiting, self.decisions, shares)
        self._round = SchedulingPass(*shared, attempts)
        self._sorting = Admission(*shared, attempts, self._round, self.decisions)
        self._merging = CacheUpdate(self.cache)
        self._questions = Questions(*shared, self._round)
        self._arrivals = Arrivals(self._ledger, shares)
        self._unparked: deque[LiveJob] = deque()
        self._connect(attempts)
        self._facts = 0
        self._round_due = 0.0
        self._ask = False
        self._informed = False
        self._wished = -1.0

    def _connect(self, attempts: Attempts) -> None:
        """What deals with attempts that are at sites."""
        ledger, cache, rules = self._ledger, self.cache, self._rules
        self._fences = fences = Fences(ledger, cache, rules)
        self._overdue = StartDeadlines(ledger, cache, fences, rules)
        rematching = Rematching(ledger, attempts, self._chooser, self._waiting, rules)
        ends = AttemptEnds(ledger, cache, attempts, rematching, fences, rules)
        self._sites = SiteReactions(
            ledger, cache, self._chooser, attempts, rematching, fences, self._overdue, ends
        )
        elsewhere = ForcedRematch(cache, self._chooser, fences, rematching)
        self._requests = UserRequests(
            ledger, self._arrivals, self._sorting, fences, elsewhere, self._unparked
        )
        self._recovering = Recovering(ledger, self._arrivals, self._sites, self._unparked, rules)

    def use(self, order: Policy | None = None, queue: QueuePolicy | None = None) -> None:
        """Decide by other policies from now on; None: leave that one as it is."""
        if order is not None and order is not self._chooser.order:
            self._chooser.order, self._chooser.failed = order, ""
        if queue is not None:
            self._round.policy = queue
        self._round.open_all()

    def handle(self, message: Message, now: Now) -> list[Effect]:
        """React to a message; every message is legal at every time."""
        effects = self._ledger.begin(now)
        if isinstance(message, _BY_SITES):
            self._sites.heard(message)
            if self._at_rest():
                return effects
        else:
            self._heard(message)
        self._turn(message)
        return effects

    def _at_rest(self) -> bool:
        """Nobody waits: what a site says is nothing to others, and the wish for the next round stands."""
        return (
            self._wished == self._round_due > self._ledger.now.monotonic
            and not (self._waiting.jobs or self._fences.asked or self._overdue.any)
            and self._rules.cache
        )

    def _heard(self, message: Message) -> None:
        match message:
            case SubmissionRecorded():
                self._arrivals.add(message.arrivals)
                self._ask = True
            case JobsRecovered():
                self._recovering.take(message)
            case SourceHeard():
                self._merging.add(message)
                self._informed = True
            case LinkChanged():
                self._sites.link_changed(message)
                self._unparked.extend(self._waiting.awaiting.values())
            case ReplicasFound():
                self._standings.forget()
            case TimerFired():
                self._look()
            case CancelAsked() | HoldAsked() | ReleaseAsked() | ElsewhereAsked():
                self._requests.heard(message)

    # --- what others may read

    @property
    def policy_problem(self) -> str:
        """Why the built-in order had to step in when the policy was last asked; empty: it had not."""
        return self._chooser.failed

    def job(self, job: str) -> LiveJob | None:
        """A live job, to be read only."""
        return self._arrivals.known(job)

    def live(self) -> list[LiveJob]:
        """All live jobs, to be read only."""
        self._arrivals.admit_all()
        return list(self._ledger.jobs.values())

    def pool(self, now: float) -> Pool:
        """What list-match is asked about: the very pool by which is decided; to be read only."""
        return self.cache.pool(now)

    def queue(self, now: float) -> Iterator[QueuedJob]:
        """All waiting jobs in order, each with the reason why it waits now; made when taken (CB-UI-11)."""
        return self._questions.queue(now)

    def queue_place(self, job: str) -> int:
        """1 for the head of the queue of pending requests; 0 for a job that is not in it."""
        known = self._ledger.jobs.get(job)
        return self._waiting.place(known) if known else 0

    def why(self, job: str, now: float) -> Why | None:
        """Why a live job is not running, by what decides it."""
        known = self._ledger.jobs.get(job)
        return None if known is None else self._questions.why(known, now, self.next_round)

    def waits_for(self, job: str, now: float) -> str:
        """The same in one sentence; empty if nothing is awaited of the scheduler."""
        known = self._ledger.jobs.get(job)
        return "" if known is None else self._questions.reason(known, now)

    def not_elsewhere(self, job: str) -> str:
        """Why a live job cannot be run elsewhere, in words; empty: it can."""
        return self._requests.refusal(job)

    @property
    def backlog(self) -> int:
        """Submitted jobs that were not looked at yet: what a broker that has too much of it should refuse."""
        return len(self._arrivals)

    @property
    def next_round(self) -> float:
        """When all waiting jobs are matched again at the latest, seconds since the epoch."""
        now = self._ledger.now
        return now.wall + max(0.0, self._round_due - now.monotonic)

    # --- slices of work

    def _turn(self, message: Message) -> None:
        """What can be done now, a slice of it; the rest follows by a Wake at once."""
        now = self._ledger.now.monotonic
        self._standings.before = self._standings.asked
        if self._merging.busy:
            rules = self._rules
            self._merging.run(rules.slice_facts_few if self._arrivals else rules.slice_facts)
        if now >= self._round_due:
            self._next_round()
        if self._arrivals:
            self._take_over(self._rules.slice_jobs)
        if self._unparked or self._facts != self.cache.board.facts:
            self._recheck(self._rules.slice_jobs)
        if self._waiting.jobs or self._round.more:
            self._round.run(self._rules.slice_jobs)
        self._settle()
        if not self._rules.cache:
            self._forget(message)
        self._wish(isinstance(message, TimerFired))

    def _wish(self, fired: bool) -> None:
        """Ask to be woken, unless the last wish still stands."""
        moment = self._next_wake()
        if fired or moment != self._wished:
            self._wished = moment
            self._ledger.effects.append(Wake(moment))

    def _next_round(self) -> None:
        """Everything waiting goes through the whole selection again (SA-LCH-02, SA-LCH-03)."""
        now = self._ledger.now
        self._round_due = now.monotonic + self._rules.rematch_interval
        self._round.open_all()
        self._ask = True
        if waiting := len(self._waiting):
            known = len(self.cache.entries)
            reason = f"{waiting} waiting jobs are looked at again"
            self.decisions.add(now.wall, "", "", "round", reason=reason, considered=known)

    def _take_over(self, slice_: int) -> None:
        effort = WorkBudget(self._standings, slice_)
        while self._arrivals and effort.more():
            job = self._arrivals.next()
            if job is not None and job.record.state is S.SUBMITTED:
                self._ledger.note(job, E.ACCEPTED, reason=TAKEN_OVER)
                if job.hold:
                    self._ledger.note(job, E.HELD, reason=job.hold)
            # A job of a sweep arrives as one that was taken over.
            if job is not None and job.record.state is S.WAITING and not job.record.held:
                self._sorting.sort_in(job)

    def _recheck(self, slice_: int) -> None:
        """Look again at parked jobs once the resources are other ones."""
        if self._facts != self.cache.board.facts:
            self._facts = self.cache.board.facts
            waiting = {job.id for job in self._unparked}
            aside = (*self._waiting.parked.values(), *self._waiting.awaiting.values())
            self._unparked.extend(job for job in aside if job.id not in waiting)
        effort = WorkBudget(self._standings, slice_)
        while self._unparked and effort.more():
            job = self._unparked.popleft()
            if job.record.state is S.WAITING and not job.record.held:
                self._sorting.sort_in(job)

    def _settle(self) -> None:
        """What a round found out besides places: jobs without hope, and jobs to be told why they wait."""
        if self._round.hopeless:
            for job in self._round.hopeless:
                self._sorting.leave(job)
                self._unparked.append(job)
            self._round.hopeless = []
        if self._chooser.problem:
            self.decisions.add(self._ledger.now.wall, "", "", "policy", reason=self._chooser.problem)
            self._chooser.problem = ""
        if self._round.untold:
            self._tell()

    def _tell(self) -> None:
        """Let the records of jobs that find nothing free say so, each once."""
        untold, now = self._round.untold, self._ledger.now.monotonic
        while untold:
            job_id, since = next(iter(untold.items()))
            job = self._ledger.jobs.get(job_id)
            line = self._waiting.line(job) if job is not None else None
            if job is None or line is None or line.since is None or line.head() is not job:
                del untold[job_id]
            elif now - since < self._rules.tell_after:
                return
            else:
                del untold[job_id]
                line.told = job_id
                reason = self._questions.met(job, now)
                self._sorting.decided(job, "postponed", reason)
                self._ledger.note(job, E.POSTPONED, reason=reason)

    def _forget(self, message: Message) -> None:
        """Without a cache: what was heard counts for this round, and the next needs new answers."""
        if self._informed and not (self._merging.busy or self._round.more):
            self.cache.forget(self._ledger.now.monotonic)
            self._informed = False
        if isinstance(message, SourceHeard):
            self._ask = False
        elif self._ask and (self._waiting.jobs or self._arrivals):
            self._ask = False
            self._ledger.effects.append(Ask())

    def _look(self) -> None:
        """What only the time brings about."""
        now = self._ledger.now.monotonic
        for job in list(self._waiting.parked.values()):
            since = job.infeasible_since
            if since is not None and now - since >= self._rules.infeasible_timeout:
                self._sorting.end(job, f"No compatible resources: {self._standings.of(job.demand).reason}")
        if self._sorting.end_of_patience() <= now:
            self._unparked.extend(self._waiting.awaiting.values())
        self._fences.again()
        self._overdue.look()

    def _next_wake(self) -> float:
        now = self._ledger.now.monotonic
        if self._arrivals or self._unparked or self._round.more or self._merging.busy:
            return now
        moment = self._round_due
        if self._round.untold:
            moment = min(moment, next(iter(self._round.untold.values())) + self._rules.tell_after)
        if self._waiting.parked:
            moment = min(moment, self._first_infeasible() + self._rules.infeasible_timeout)
        moment = min(moment, self._sorting.end_of_patience())
        if self._waiting.jobs:
            moment = min(moment, self.cache.next_change(now))
        if self._fences.asked or self._overdue.any:
            moment = min(moment, self._fences.next(), self._overdue.next())
        return max(now, moment)

    def _first_infeasible(self) -> float:
        """Since when the job that was parked first is parked; the folder of parked jobs keeps that order."""
        since = next(iter(self._waiting.parked.values())).infeasible_since
        return self._ledger.now.monotonic if since is None else since


def _cache(rules: SchedulerConfig) -> ResourceCache:
    return ResourceCache(
        rules.exclusive_interval,
        rules.first_bad_period,
        rules.temp_bad_period,
        access_needed=rules.access_needed,
        reputation=Reputation(rules.reputation_half_life, rules.first_probe, rules.temp_bad_period),
    )
