"""The Scheduling Agent: `handle(message, now)` gives the effects that follow (CB-SCH-01 to 12)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.resources.record import Resource
from broker_core.scheduling.capacity import Capacity
from broker_core.scheduling.choosing import Chooser, Match
from broker_core.scheduling.effects import Effect, Wake
from broker_core.scheduling.ledger import Ledger
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import (
    Arrival,
    CancelAsked,
    HoldAsked,
    JobsRecovered,
    Message,
    Now,
    ReleaseAsked,
    ResourcesRefreshed,
    SubmissionRecorded,
    TimerFired,
)
from broker_core.scheduling.rules import Rules
from broker_core.scheduling.site_reactions import SiteReactions
from broker_core.scheduling.waiting import WaitingJobs

S, E = JobState, EventType


@dataclass(slots=True)
class _BlockedHead:
    """The job that holds back the queue, since when, and whether its record says so."""

    job: str = ""
    since: float = 0.0
    told: bool = False


class Scheduler:
    """Owns the live jobs. Pure: both clocks come in with messages, `positions` counts the log."""

    def __init__(self, match: Match, positions: Callable[[], int], rules: Rules | None = None) -> None:
        self._rules = rules or Rules()
        self._ledger = Ledger(positions)
        self._capacity = Capacity(self._rules)
        self._chooser = Chooser(self._capacity, match)
        self._waiting = WaitingJobs()
        self._sites = SiteReactions(self._ledger, self._capacity, self._waiting, self._rules)
        self._arrivals: deque[LiveJob] = deque()
        self._unparked: deque[LiveJob] = deque()
        self._facts = 0
        self._orders = 0
        self._blocked = _BlockedHead()
        self._more = False

    def handle(self, message: Message, now: Now) -> list[Effect]:
        """React to a message; every message is legal at every time."""
        effects = self._ledger.begin(now)
        match message:
            case SubmissionRecorded() | JobsRecovered():
                self._arrive(message.arrivals)
            case ResourcesRefreshed():
                self._capacity.refresh(message.resources)
            case CancelAsked():
                self._cancel(message.job)
            case HoldAsked():
                self._hold(message.job, message.reason)
            case ReleaseAsked():
                self._release(message.job)
            case TimerFired():
                self._overdue()
            case _:
                self._sites.heard(message)
        self._turn()
        return effects

    def job(self, job: str) -> LiveJob | None:
        """A live job, to be read only."""
        return self._ledger.jobs.get(job)

    def live(self) -> list[LiveJob]:
        """All live jobs, to be read only."""
        return list(self._ledger.jobs.values())

    def queue_place(self, job: str) -> int:
        """1 for the head of the queue of pending requests; 0 for a job that is not in it."""
        known = self._ledger.jobs.get(job)
        return self._waiting.place(known) if known else 0

    def resources(self, now: float) -> list[Resource]:
        """The resources that may be used now, with what is free of them: what list-match is asked about."""
        return self._capacity.now_free(now)

    def waits_for(self, job_id: str, now: float) -> str:
        """Why a job has not moved on, by what decides it; empty if nothing is awaited of the scheduler."""
        job = self._ledger.jobs.get(job_id)
        if job is None or job.record.state is not S.WAITING or job.record.held:
            return job.record.reason if job is not None and job.record.held else ""
        head = self._waiting.head()
        if job is head:
            return self._why_blocked(job, now)
        if head is None or not self._waiting.place(job):
            return job.record.reason
        return f"{self._waiting.place(job) - 1} jobs are before it. {self._why_blocked(head, now)}"

    def _arrive(self, arrivals: tuple[Arrival, ...]) -> None:
        for arrival in arrivals:
            if arrival.record.id in self._ledger.jobs or arrival.record.state.ended:
                continue
            self._orders += 1
            job = LiveJob(arrival.record, arrival.demand, self._orders)
            self._ledger.jobs[job.id] = job
            if job.record.state is S.SUBMITTED:
                job.hold = arrival.hold
                self._arrivals.append(job)
            elif job.at_site:
                self._sites.adopt(job)
            elif not job.record.held:
                self._unparked.append(job)

    def _turn(self) -> None:
        """What can be done now, a slice of it; the rest follows by a Wake at once."""
        self._take_over(self._rules.slice_jobs)
        self._recheck(self._rules.slice_jobs)
        self._place_heads(self._rules.slice_jobs)
        self._ledger.effects.append(Wake(self._next_wake()))

    def _take_over(self, slice_: int) -> None:
        for _ in range(min(slice_, len(self._arrivals))):
            job = self._arrivals.popleft()
            if job.record.state is not S.SUBMITTED:
                continue
            self._ledger.note(job, E.ACCEPTED, reason="Taken over by the scheduler")
            if job.hold:
                self._ledger.note(job, E.HELD, reason=job.hold)
            else:
                self._sort_in(job)

    def _recheck(self, slice_: int) -> None:
        """Look again at parked jobs once the resources are other ones."""
        if self._facts != self._capacity.facts:
            self._facts = self._capacity.facts
            self._unparked.extend(self._waiting.parked.values())
        for _ in range(min(slice_, len(self._unparked))):
            job = self._unparked.popleft()
            if job.record.state is S.WAITING and not job.record.held:
                self._sort_in(job)

    def _sort_in(self, job: LiveJob) -> None:
        """Queue a waiting job, or park it if nothing known could ever run it; an interactive one ends."""
        prospect = self._chooser.prospect(job.demand)
        if any(ce not in job.excluded for ce in prospect.resources):
            job.infeasible_since = None
            self._waiting.add(job)
        elif job.record.interactive:
            self._ledger.note(
                job,
                E.ABORTED,
                reason="An interactive job cannot start here at once: "
                f"{prospect.reason}. Submit it as a batch job, or again when a site can take it",
            )
        elif prospect.resources:
            self._exhausted(job)
        else:
            self._park(job, f"No compatible resources: {prospect.reason}")

    def _exhausted(self, job: LiveJob) -> None:
        self._waiting.remove(job)
        self._ledger.note(
            job,
            E.ABORTED,
            reason="It could not be started on any resource that matches. Tried: "
            + "; ".join(job.tried[-10:]),
            details={"tried": job.tried[-50:]},
        )

    def _park(self, job: LiveJob, reason: str) -> None:
        if job.infeasible_since is None:
            job.infeasible_since = self._ledger.now.monotonic
        self._waiting.park(job)
        if job.record.reason != reason:
            self._ledger.note(job, E.POSTPONED, reason=reason)

    def _place_heads(self, slice_: int) -> None:
        """First come first served: the head that finds no place holds back those behind it (CB-SCH-07)."""
        now = self._ledger.now.monotonic
        self._more = False
        for _ in range(slice_):
            job = self._waiting.head()
            if job is None:
                return
            if all(ce in job.excluded for ce in self._chooser.prospect(job.demand).resources):
                self._waiting.remove(job)
                self._sort_in(job)
                continue
            choices = self._chooser.choices(job.demand, job.excluded, now)
            if not choices:
                self._blocked_at(job, now)
                return
            self._sites.place(job, choices, _chosen(choices))
        self._more = True

    def _blocked_at(self, job: LiveJob, now: float) -> None:
        if job.record.interactive:
            self._waiting.remove(job)
            self._ledger.note(
                job,
                E.ABORTED,
                reason="An interactive job starts at once or not at all: "
                "every matching resource is busy. Submit it again later",
            )
            return
        if self._blocked.job != job.id:
            self._blocked = _BlockedHead(job.id, now)
        elif not self._blocked.told and now - self._blocked.since >= self._rules.tell_after:
            self._blocked.told = True
            self._ledger.note(job, E.POSTPONED, reason=self._why_blocked(job, now))

    def _why_blocked(self, job: LiveJob, now: float) -> str:
        useful = [ce for ce in self._chooser.prospect(job.demand).resources if ce not in job.excluded]
        troubled = set(self._capacity.troubled(now))
        if all(ce in troubled for ce in useful):
            return f"{', '.join(useful[:3])} failed lately and is tried again soon"
        free = max(self._capacity.free(ce) for ce in useful)
        cpus = job.demand.description.cpus
        return f"Next in the queue; needs {cpus} CPUs, {free} are free where it could run"

    def _cancel(self, job_id: str) -> None:
        job = self._ledger.jobs.get(job_id)
        if job is None or job.canceling:
            return
        if not job.at_site:
            self._waiting.remove(job)
            self._ledger.note(job, E.CANCELED, reason="Canceled by its owner before it was sent to a site")
            return
        self._ledger.note(job, E.CANCEL_REQUESTED, reason="Its owner asked to cancel it")
        if job.record.state is not S.READY:
            self._sites.ask_cancel(job)

    def _hold(self, job_id: str, reason: str) -> None:
        job = self._ledger.jobs.get(job_id)
        if job is not None and job.record.state is S.WAITING and not job.record.held:
            self._waiting.remove(job)
            job.infeasible_since = None
            self._ledger.note(job, E.HELD, reason=reason or "On hold by its owner")

    def _release(self, job_id: str) -> None:
        job = self._ledger.jobs.get(job_id)
        if job is not None and job.record.state is S.WAITING and job.record.held:
            self._ledger.note(job, E.RELEASED, reason="Released by its owner")
            self._unparked.append(job)

    def _overdue(self) -> None:
        now = self._ledger.now.monotonic
        for job in list(self._waiting.parked.values()):
            since = job.infeasible_since
            if since is not None and now - since >= self._rules.infeasible_timeout:
                self._waiting.remove(job)
                reason = self._chooser.prospect(job.demand).reason
                self._ledger.note(job, E.ABORTED, reason=f"No compatible resources: {reason}")
        self._sites.ask_again()

    def _next_wake(self) -> float:
        now = self._ledger.now.monotonic
        if self._arrivals or self._unparked or self._more:
            return now
        moments = [now + self._rules.rematch_interval]
        if self._waiting.head() is not None and not self._blocked.told:
            moments.append(self._blocked.since + self._rules.tell_after)
        if self._waiting.parked:
            moments.append(self._first_infeasible() + self._rules.infeasible_timeout)
        others = (self._capacity.next_trial(now), self._sites.next_question())
        moments.extend(other for other in others if other is not None)
        return max(now, min(moments))

    def _first_infeasible(self) -> float:
        """Since when the job that was parked first is parked; the folder of parked jobs keeps that order."""
        since = next(iter(self._waiting.parked.values())).infeasible_since
        return self._ledger.now.monotonic if since is None else since


def _chosen(choices: tuple[str, ...]) -> str:
    return f"Chosen: {site_name(choices[0])}" + (f", the first of {len(choices)}" if len(choices) > 1 else "")
