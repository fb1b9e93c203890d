"""What people ask the scheduler: the queue, and why a job is not running. Answers are always of now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from broker_core.jobs.failure_history import ChoiceFailure
from broker_core.jobs.site_names import site_name, site_names
from broker_core.jobs.states import JobState
from broker_core.resources.pool import Pool
from broker_core.scheduling.attempts.forced_rematch import ForcedRematch
from broker_core.scheduling.eligibility import Rows
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.queue.scheduling_pass import SchedulingPass
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.state import SchedulerState
from broker_core.scheduling.wording import waits_at_site

S = JobState
_CHOICES = 50
"""Failed choices that are told of a job."""
_QUEUES = 8
"""Of a site that may be barred for one reason, which is told once."""


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job that waits, with its reason."""

    job: LiveJob
    position: int
    """1 for the head of the queue; 0 if it is not in it."""
    reason: str
    blocking: str
    """Job that must start first; empty if it waits for resources alone."""
    state: str
    """queued, limited (others of its batch come first), parked (no known resource could ever serve it), held
    or sent."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a job is not running, by what decides it."""

    headline: str
    details: list[str] = field(default_factory=list)
    """Further sentences, the most important first."""
    position: int = 0
    held_back_by: str = ""
    matching_now: int = 0
    matching_ever: int = 0
    known: int = 0
    next_round: float | None = None
    """Seconds since the epoch; None for a job that waits for no match."""
    remedy: str = ""
    tried: tuple[ChoiceFailure, ...] = ()
    """Choices that did not take it, oldest first (SA-UI-01)."""
    trying: tuple[str, ...] = ()
    """Computing elements of the choice that is being tried; none: no choice is."""

    @property
    def failed(self) -> list[ChoiceFailure]:
        """Each choice that did not take it once, with its last error, the latest last."""
        last: dict[tuple[str, ...], ChoiceFailure] = {}
        for one in self.tried:
            last.pop(one.ces, None)
            last[one.ces] = one
        return [*last.values()][-_CHOICES:]


class Questions:
    """Answers from the state that decides, and changes nothing of it."""

    def __init__(
        self, state: SchedulerState, selector: Selector, rounds: SchedulingPass, elsewhere: ForcedRematch
    ) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._queue = state.queue
        self._selector = selector
        self._eligibility = state.eligibility
        self._pass = rounds
        self.not_elsewhere = elsewhere.refusal

    @property
    def policy_problem(self) -> str:
        """Why the built-in order had to step in when the policy was last asked; empty: it had not."""
        return self._selector.failed

    def queue(self, now: float) -> Iterator[QueuedJob]:
        """All waiting jobs: the queue in order, then those sent to a site that has not answered yet, then
        parked and held ones. Jobs may come and go between two of them; who has left the queue is left out."""
        others = [job for job in self._jobs.live.values() if self._is_other(job)]
        first_of = {line.first: self._pass.head_before(line) for line in self._queue.lines()}
        waits: dict[str, str] = {}
        for position, job in enumerate(self._queue.queued(), 1):
            line = self._queue.line(job)
            if line is None:
                continue
            first = first_of.get(line.first)
            if first is None and line.first != job.order:
                first = line.head()
            blocking = job if first is None else first
            if blocking.id not in waits:
                waits[blocking.id] = self._lacks(blocking, now)
            reason = _queued_reason(job, position, first, waits[blocking.id])
            yield QueuedJob(job, position, reason, first.id if first else "", "queued")
        yield from (self._other(job) for job in others if self._is_other(job))

    def why(self, job: LiveJob, now: float, next_round: float) -> Why:
        """Everything that keeps one job from running."""
        eligible = self._eligibility.of(job.demand)
        waits = job.record.state is S.WAITING and not job.record.held
        first = self._pass.before(job)
        return Why(
            self.reason(job, now),
            self._details(job, now),
            self._queue.position(job),
            "" if first is None else first.id,
            self._selector.matching(job.demand, job.excluded, now) if waits else 0,
            len(eligible.ever_rows),
            len(self._cache.entries),
            next_round if waits else None,
            self._remedy(job, first),
            job.tried,
            job.ces if job.record.state is S.READY else (),
        )

    def reason(self, job: LiveJob, now: float) -> str:
        """Why a job has not moved on; empty if nothing is awaited of the scheduler."""
        if job.record.held:
            return job.record.reason
        if job.record.state is S.READY:
            return waits_at_site(job.record)
        if job.record.state is not S.WAITING:
            return ""
        if self._jobs.limits.is_aside(job):
            return _turn(job)
        position = self._queue.position(job)
        if not position:
            return job.record.reason
        first = self._pass.before(job)
        return _queued_reason(job, position, first, self._lacks(first or job, now))

    def met(self, job: LiveJob, now: float) -> str:
        """What its record says of a job for which nothing was free. Its place, which may change while the
        record says this, is not in it."""
        return f"Had to wait when its turn came: {self._lacks(job, now)}"

    def _lacks(self, job: LiveJob, now: float) -> str:
        """What the first job of those that compete for the same resources waits for; follows its name."""
        pool, rows = self._cache.pool(now), self._useful(job)
        usable = rows[self._cache.board.usable[rows]]
        if not len(usable):
            shown = "; ".join(self._bars(rows, pool, 3))
            return f"has no resource where it could run that may be used now: {shown}"
        free, cpus = int(pool.free[usable].max()), job.demand.description.cpus
        if free >= cpus:
            return f"finds {_cpus(free)} free, but what is free now does not match"
        return f"needs {_cpus(cpus)}, {free} {'is' if free == 1 else 'are'} free where it could run"

    def _useful(self, job: LiveJob) -> Rows:
        """Rows that could ever run a job."""
        rows = self._eligibility.of(job.demand).ever_rows
        barred = [self._cache.entries[ce].row for ce in job.excluded if ce in self._cache.entries]
        return rows[~np.isin(rows, barred)] if barred else rows

    def _bars(self, rows: Rows, pool: Pool, most: int) -> list[str]:
        """Why some of these rows may not be used now."""
        barred = rows[~self._cache.board.usable[rows]][: _QUEUES * most].tolist()
        reasons = (f"{site_name(pool.columns.ces[row])}: {pool.barred[row].reason}" for row in barred)
        return list(dict.fromkeys(reasons))[:most]

    def _details(self, job: LiveJob, now: float) -> list[str]:
        details = []
        if job.ces and job.record.state is S.READY:
            details.append(f"{job.sites} is being tried")
        details += [f"Tried: {one}" for one in job.tried[-3:]]
        details += self._bars(self._useful(job), self._cache.pool(now), 3)
        if job.excluded:
            names = site_names(tuple(sorted(job.excluded)[:3]))
            details.append(f"Not tried again after failures: {names}")
        return details

    def _remedy(self, job: LiveJob, first: LiveJob | None) -> str:
        if job.record.held:
            return "Release it"
        if job.record.state is not S.WAITING:
            return ""
        if self._jobs.limits.is_aside(job):
            return "Wait, or submit it with a larger MaxRunningJobs"
        if not self._eligibility.of(job.demand).ever:
            return "Change what it requires, or add a site that offers it"
        if first is not None and first.id != job.id:
            return "Choose bounded backfill as the queue policy, or hold or cancel the job before it"
        return "Wait, or ask for fewer CPUs"

    def _is_other(self, job: LiveJob) -> bool:
        """It waits, but not in the queue."""
        return job.record.state in (S.WAITING, S.READY) and self._queue.line(job) is None

    def _other(self, job: LiveJob) -> QueuedJob:
        if job.record.state is S.READY:
            return QueuedJob(job, 0, waits_at_site(job.record), "", "sent")
        if self._jobs.limits.is_aside(job):
            return QueuedJob(job, 0, _turn(job), "", "limited")
        return QueuedJob(job, 0, job.record.reason, "", "held" if job.record.held else "parked")


def _turn(job: LiveJob) -> str:
    """Why a job waits that is to come once others of its batch have ended."""
    most = job.demand.description.most_running
    return f"Waits for its turn: of its batch {most} may be at work at the same time (MaxRunningJobs)"


def _queued_reason(job: LiveJob, position: int, first: LiveJob | None, lacks: str) -> str:
    """Why a queued job waits: for what it lacks itself, or for what the first job before it lacks."""
    if first is None:
        return f"Next in the queue; {lacks}"
    others = "1 job is" if position == 2 else f"{position - 1} jobs are"
    return f"{others} before it: {_called(first, job)} {lacks}"


def _called(first: LiveJob, job: LiveJob) -> str:
    """The name of a job as the owner of another one may see it."""
    if first.record.owner != job.record.owner:
        return "a job of another user"
    return first.record.name or first.id


def _cpus(count: int) -> str:
    return f"{count} CPU{'' if count == 1 else 's'}"
