"""One round over the queue of pending requests: who goes now, who holds back whom (CB-SCH-06, CB-SCH-07)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from broker_core.policies.queues import Fcfs, QueuePolicy
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.eligibility import WorkBudget, bits_of
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import PoliciesChosen
from broker_core.scheduling.queue.pending_queue import ALL, JobQueue
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.state import SchedulerState


@dataclass(slots=True)
class Blocked:
    """The first job of a line, which cannot start now, and what it could use."""

    job: LiveJob
    mask: int


class SchedulingPass:
    """Goes through the lines in order, as far as something changed since the last time.

    A waiting job holds back only jobs that could use a resource that it could itself use: of lines without
    a common resource each goes on by itself, and a job that nothing known can run is in no line. Resources
    that nobody may use now do not count: who waits for a site that is down alone waits alone. Whether a
    job behind another may pass it is up to the queue policy. Of a line that found nothing free only those
    rows are looked at again that were raised since.
    """

    def __init__(self, state: SchedulerState, selector: Selector, attempts: Attempts) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._queue = state.queue
        self._decisions = state.decisions
        self._slice = state.rules.slice_jobs
        self._selector = selector
        self._eligibility = state.eligibility
        self._attempts = attempts
        self.policy: QueuePolicy = Fcfs()
        self.hopeless: list[LiveJob] = []
        """Jobs found in the queue that no known resource can run any more."""
        self.unexplained: dict[str, float] = {}
        """Jobs that find nothing free, since when; in that order, until their records say so."""
        self._facts = 0
        self._barred = 0
        self.more = False
        """The slice was used up before the queue was."""

    def use(self, message: PoliciesChosen) -> None:
        """Decide by other policies from now on."""
        if message.order is not None:
            self._selector.use(message.order)
        if message.queue is not None:
            self.policy = message.queue
        self.open_all()

    def open_all(self) -> None:
        """Look at every line again, whatever is known of it."""
        for line in self._queue.lines():
            line.fresh = ALL
        self._queue.dirty = True

    def due(self) -> float:
        """See `Step`: the rest of a slice at once, else when something in the cache runs out."""
        now = self._jobs.now.monotonic
        if self.more:
            return now
        return self._cache.next_change(now) if self._queue.jobs else math.inf

    def run(self) -> None:
        """Assign what can be assigned, as much work as a slice of jobs is."""
        if self._queue.jobs or self.more:
            self._go_through()
        if self.hopeless:
            for job in self.hopeless:
                self.leave(job)
                self._queue.again.append(job)
            self.hopeless = []
        if self._selector.problem:
            self._decisions.add(self._jobs.now.wall, "", "", "policy", reason=self._selector.problem)
            self._selector.problem = ""

    def leave(self, job: LiveJob) -> None:
        """A job waits no more, or is on hold."""
        self._queue.remove(job)
        self.policy.gone(job.id)

    def _go_through(self) -> None:
        board, queue = self._cache.board, self._queue
        if not queue.jobs:
            board.raised.clear()
            queue.freed, self.more = 0, False
            return
        self._spread()
        barred = board.barred
        if not (queue.dirty or self.more or self._facts != board.facts or self._barred != barred):
            return
        self._facts, self._barred = board.facts, barred
        self._queue.dirty = self.more = False
        blocked: list[Blocked] = []
        union = 0
        effort = WorkBudget(self._eligibility, self._slice)
        for line in self._queue.lines():
            if line.facts != board.facts and not effort.more():
                self.more = True
                return
            if not self._current(line):
                continue
            before = _first(blocked, line.mask) if line.mask & union else None
            job = line.head()
            if job is None:
                continue
            if self._tries(line, job, before) and not effort.more():
                self.more = True
                return
            if self._goes(line, job, before):
                continue
            competes = line.mask & ~barred
            blocked.append(Blocked(job, competes))
            union |= competes
        # The lines that moved meanwhile came once more where they stand now.
        queue.dirty = False
        # What was placed may have closed a resource for which somebody held others back.
        self.more = board.barred != barred

    def before(self, job: LiveJob) -> LiveJob | None:
        """The first job that holds this one back; None if it is blocked by nothing but resources."""
        line = self._queue.line(job)
        if line is None:
            return None
        return self.head_before(line) or (line.head() if line.first != job.order else None)

    def head_before(self, line: JobQueue) -> LiveJob | None:
        """The first job of another line that holds this line back."""
        for other in self._queue.lines():
            if other.first >= line.first:
                return None
            if other.mask & line.mask & ~self._cache.board.barred:
                return other.head()
        return None

    def _tries(self, line: JobQueue, job: LiveJob, before: Blocked | None) -> bool:
        """True if a place is looked for. Only that is work: the next slice begins at the head again and would
        never come behind many lines that others hold back."""
        if before is not None and not self.policy.passes(before.job.id, job.demand.description.cpus):
            return False
        return line.fresh & line.mask != 0

    def _goes(self, line: JobQueue, job: LiveJob, before: Blocked | None) -> bool:
        """Place the first job of a line if it may go and finds a place; else it is blocked."""
        cpus = job.demand.description.cpus
        if before is not None and not self.policy.passes(before.job.id, cpus):
            line.since = None
            return self._stays(job, cpus)
        if line.fresh & line.mask and self._assign(line, job):
            if before is not None:
                self.policy.passed(before.job.id, cpus)
            return True
        line.fresh = 0
        if before is None and line.since is None:
            line.since = self._jobs.now.monotonic
            if line.explained != job.id:
                self.unexplained[job.id] = line.since
        return self._stays(job, cpus)

    def _stays(self, job: LiveJob, cpus: int) -> bool:
        self.policy.blocked(job.id, cpus)
        return False

    def _assign(self, line: JobQueue, job: LiveJob) -> bool:
        now = self._jobs.now.monotonic
        fresh = line.fresh if line.fresh == ALL else line.fresh & line.mask
        choice = self._selector.choose(line.demand, line.excluded, now, fresh, job.record.position)
        if choice is None or not self._attempts.assign(job, choice):
            return False
        self.policy.gone(job.id)
        return True

    def _current(self, line: JobQueue) -> bool:
        """Bring a line up to the facts, by which any row may match now that did not before; False if
        nothing known can run its jobs any more."""
        if line.facts != self._cache.board.facts:
            line.facts = self._cache.board.facts
            line.fresh = ALL
            eligible = self._eligibility.of(line.demand)
            rows = self._cache.pool(self._jobs.now.monotonic).columns.row_of
            barred = [row for ce in line.excluded if (row := rows(ce)) is not None]
            line.mask = eligible.ever & ~bits_of(barred)
            if not line.mask:
                self.hopeless += line.jobs.values()
        return line.mask != 0

    def _spread(self) -> None:
        """Tell every line which rows may be able to take more than before."""
        board = self._cache.board
        self._cache.pool(self._jobs.now.monotonic)
        raised = self._queue.freed
        if board.raised:
            raised |= bits_of(board.raised)
            board.raised.clear()
        if raised:
            self._queue.freed = 0
            self._queue.dirty = True
            for line in self._queue.lines():
                if line.fresh != ALL:
                    line.fresh |= raised


def _first(blocked: list[Blocked], mask: int) -> Blocked:
    return next(one for one in blocked if one.mask & mask)
