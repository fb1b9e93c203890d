"""One round over the queue of pending requests: who goes now, who holds back whom (CB-SCH-06, CB-SCH-07)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.policies.queues import Fcfs, QueuePolicy
from broker_core.resources.cache import ResourceCache
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.eligibility import EligibilityTable, WorkBudget, bits_of
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.pending_queue import ALL, JobQueue, PendingQueue
from broker_core.scheduling.selection import Selector


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

    def __init__(
        self,
        ledger: JobTable,
        cache: ResourceCache,
        standings: EligibilityTable,
        chooser: Selector,
        waiting: PendingQueue,
        attempts: Attempts,
    ) -> None:
        self._ledger = ledger
        self._cache = cache
        self._standings = standings
        self._chooser = chooser
        self._waiting = waiting
        self._attempts = attempts
        self.policy: QueuePolicy = Fcfs()
        self.hopeless: list[LiveJob] = []
        """Jobs found in the queue that no known resource can run any more."""
        self.untold: dict[str, float] = {}
        """Jobs that find nothing free, since when; in that order, until their records say so."""
        self._facts = 0
        self._barred = 0
        self.more = False
        """The slice was used up before the queue was."""

    def open_all(self) -> None:
        """Look at every line again, whatever is known of it."""
        for line in self._waiting.lines():
            line.fresh = ALL
        self._waiting.dirty = True

    def run(self, slice_: int) -> None:
        """Place what can be placed, with as much work as `slice_` jobs are."""
        board, waiting = self._cache.board, self._waiting
        if not waiting.jobs:
            board.raised.clear()
            waiting.freed, self.more = 0, False
            return
        self._spread()
        barred = board.barred
        if not (waiting.dirty or self.more or self._facts != board.facts or self._barred != barred):
            return
        self._facts, self._barred = board.facts, barred
        self._waiting.dirty = self.more = False
        blocked: list[Blocked] = []
        union = 0
        effort = WorkBudget(self._standings, slice_)
        for line in self._waiting.lines():
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
        # What was placed may have closed a resource for which somebody held others back.
        self.more = board.barred != barred

    def before(self, job: LiveJob) -> LiveJob | None:
        """The first job that holds this one back; None if it is blocked by nothing but resources."""
        line = self._waiting.line(job)
        if line is None:
            return None
        return self.head_before(line) or (line.head() if line.place != job.order else None)

    def head_before(self, line: JobQueue) -> LiveJob | None:
        """The first job of another line that holds this line back."""
        for other in self._waiting.lines():
            if other.place >= line.place:
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
        if line.fresh & line.mask and self._place(line, job):
            if before is not None:
                self.policy.passed(before.job.id, cpus)
            return True
        line.fresh = 0
        if before is None and line.since is None:
            line.since = self._ledger.now.monotonic
            if line.told != job.id:
                self.untold[job.id] = line.since
        return self._stays(job, cpus)

    def _stays(self, job: LiveJob, cpus: int) -> bool:
        self.policy.blocked(job.id, cpus)
        return False

    def _place(self, line: JobQueue, job: LiveJob) -> bool:
        now = self._ledger.now.monotonic
        fresh = line.fresh if line.fresh == ALL else line.fresh & line.mask
        choice = self._chooser.choose(line.demand, line.excluded, now, fresh, job.record.position)
        if choice is None or not self._attempts.place(job, choice):
            return False
        self.policy.gone(job.id)
        return True

    def _current(self, line: JobQueue) -> bool:
        """Bring a line up to the facts, by which any row may match now that did not before; False if
        nothing known can run its jobs any more."""
        if line.facts != self._cache.board.facts:
            line.facts = self._cache.board.facts
            line.fresh = ALL
            standing = self._standings.of(line.demand)
            rows = self._cache.pool(self._ledger.now.monotonic).columns.row_of
            barred = [row for ce in line.excluded if (row := rows(ce)) is not None]
            line.mask = standing.ever & ~bits_of(barred)
            if not line.mask:
                self.hopeless += line.jobs.values()
        return line.mask != 0

    def _spread(self) -> None:
        """Tell every line which rows may be able to take more than before."""
        board = self._cache.board
        self._cache.pool(self._ledger.now.monotonic)
        raised = self._waiting.freed
        if board.raised:
            raised |= bits_of(board.raised)
            board.raised.clear()
        if raised:
            self._waiting.freed = 0
            self._waiting.dirty = True
            for line in self._waiting.lines():
                if line.fresh != ALL:
                    line.fresh |= raised


def _first(blocked: list[Blocked], mask: int) -> Blocked:
    return next(one for one in blocked if one.mask & mask)
