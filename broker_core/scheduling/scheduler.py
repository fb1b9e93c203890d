"""The Scheduling Agent: `handle(message, now)` gives the effects that follow (CB-SCH-01 to 12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from broker_core.jdl.description import JobDescription
from broker_core.jobs.attempt_events import AttemptReport
from broker_core.reactor.reactor import Now, TimerFired
from broker_core.resources.cache import ResourceCache
from broker_core.resources.pool import Pool
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.scheduling.decisions import Decisions
from broker_core.scheduling.effects import Ask, Cancel, Confirm, Effect, JobEnded, LateMessage, Record, Submit
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import Message
from broker_core.scheduling.parts import seen_by
from broker_core.scheduling.questions import Questions, QueuedJob, Why
from broker_core.scheduling.state import SchedulerState, problems
from broker_core.scheduling.turn import Turn

_BY_SITES = frozenset(get_args(AttemptReport))


class Scheduler:
    """The first reactor: owns the live jobs. Pure: both clocks come in with messages. Put together by
    `scheduling.build`."""

    gives: frozenset[type] = frozenset(
        {Record, Submit, Confirm, Cancel, ReleaseBarrier, EndLauncher, LateMessage, Ask, JobEnded}
    )

    def __init__(
        self,
        state: SchedulerState,
        handlers: Mapping[type, Callable[[Any], object]],
        turn: Turn,
        questions: Questions,
    ) -> None:
        """`handlers`: who deals with a message, by its type."""
        self._state = state
        self._jobs = state.jobs
        self._handlers = dict(handlers)
        self._turn = turn
        self._questions = questions
        self.takes = frozenset(handlers)

    def handle(self, message: Message, now: Now) -> list[Effect]:
        """React to a message; every message is legal at every time."""
        effects = self._jobs.begin(now)
        kind = type(message)
        self._handlers[kind](message)
        if kind not in _BY_SITES or not self._turn.at_rest():
            self._turn.run(fired=kind is TimerFired)
        return effects

    def validate(self) -> list[str]:
        """See `Reactor`."""
        return problems(self._state)

    # --- what others may read

    @property
    def cache(self) -> ResourceCache:
        """What is known of the resources; to be read only."""
        return self._state.cache

    @property
    def decisions(self) -> Decisions:
        """What was decided lately; to be read only."""
        return self._state.decisions

    @property
    def policy_problem(self) -> str:
        """Why the built-in order had to step in when the policy was last asked; empty: it had not."""
        return self._questions.policy_problem

    def job(self, job: str) -> LiveJob | None:
        """A live job, to be read only."""
        return self._state.arrivals.known(job)

    def live(self) -> list[LiveJob]:
        """All live jobs, to be read only."""
        self._state.arrivals.admit_all()
        return list(self._jobs.live.values())

    def pool(self, now: float) -> Pool:
        """What list-match is asked about: the very pool by which is decided; to be read only."""
        return self._state.cache.pool(now)

    def seen_by(self, description: JobDescription, pool: Pool) -> Pool:
        """A pool as one job sees it, see `parts.seen_by`."""
        return seen_by(description, pool, self._state.cache.board, self._state.rules.interactive_mode)

    def queue(self, now: float) -> Iterator[QueuedJob]:
        """All waiting jobs in order, each with the reason why it waits now; made when taken (CB-UI-11)."""
        return self._questions.queue(now)

    def queue_position(self, job: str) -> int:
        """1 for the head of the queue of pending requests; 0 for a job that is not in it."""
        known = self._jobs.live.get(job)
        return self._state.queue.position(known) if known else 0

    def why(self, job: str, now: float) -> Why | None:
        """Why a live job is not running, by what decides it."""
        known = self._jobs.live.get(job)
        return None if known is None else self._questions.why(known, now, self.next_round)

    def waits_for(self, job: str, now: float) -> str:
        """The same in one sentence; empty if nothing is awaited of the scheduler."""
        known = self._jobs.live.get(job)
        return "" if known is None else self._questions.reason(known, now)

    def able(self, job: LiveJob) -> list[str]:
        """The computing elements that could ever run a live job; it is of no matter what is free there."""
        eligible, ces = self._state.eligibility.of(job.demand), self.cache.board.pool.columns.ces
        return [ces[row] for row in eligible.ever_rows.tolist()]

    def leaving(self, job: str) -> bool:
        """True if all components of a job over several sites are being ended, since one failed."""
        return self._state.coallocations.leaving(job)

    def not_elsewhere(self, job: str) -> str:
        """Why a live job cannot be run elsewhere, in words; empty: it can."""
        known = self._jobs.live.get(job)
        return "It has ended" if known is None else self._questions.not_elsewhere(known)

    @property
    def backlog(self) -> int:
        """Submitted jobs that were not looked at yet: what a broker that has too much of it should refuse."""
        return len(self._state.arrivals)

    @property
    def next_round(self) -> float:
        """When all waiting jobs are matched again at the latest, seconds since the epoch."""
        now = self._jobs.now
        return now.wall + max(0.0, self._turn.next_round - now.monotonic)
