"""What the parts of the scheduler share: one object, made once and given to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_core.jobs.states import JobState
from broker_core.resources.cache import ResourceCache
from broker_core.resources.reputation import Reputation
from broker_core.scheduling.coallocation.coallocations import Coallocations
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.decisions import Decisions
from broker_core.scheduling.eligibility import EligibilityTable, Match
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import AtSite, HandingOver, InDoubt, LiveJob
from broker_core.scheduling.queue.arrivals import Arrivals
from broker_core.scheduling.queue.pending_queue import PendingQueue
from broker_core.scheduling.queue.shares import FairShares


class SchedulerState:
    """All that the scheduler remembers between two messages, but for what its parts keep for themselves."""

    def __init__(self, match: Match, positions: Callable[[], int], rules: SchedulerConfig) -> None:
        """`positions`: the next position in the log."""
        self.rules = rules
        self.jobs = JobTable(positions)
        """Live jobs, and the effects of the message in hand."""
        self.shares = FairShares()
        """The order in which users take turns."""
        self.arrivals = Arrivals(self.jobs, self.shares)
        """Jobs that were submitted and are not taken over yet."""
        self.queue = PendingQueue()
        """Jobs that wait."""
        self.cache = _cache(rules)
        """What is known of the resources."""
        self.eligibility = EligibilityTable(self.cache.board, match)
        """Where jobs can run, by matching."""
        self.coallocations = Coallocations(lambda: 0, rules.gather_timeout)
        """Jobs over several sites; their steps are recorded as those of the jobs."""
        self.decisions = Decisions(rules.decisions)
        """What was decided lately."""


def _cache(rules: SchedulerConfig) -> ResourceCache:
    return ResourceCache(
        rules.exclusive_interval,
        rules.first_bad_period,
        rules.temp_bad_period,
        access_needed=rules.access_needed,
        reputation=Reputation(rules.reputation_half_life, rules.first_probe, rules.temp_bad_period),
    )


def problems(state: SchedulerState) -> list[str]:
    """Each contradiction in one sentence; empty if all is well. Changes nothing."""
    found = [f"Job {job.id}: {text}." for job in state.jobs.live.values() for text in _of_job(state, job)]
    found += state.coallocations.validate()
    return found + [f"The queue: {text}." for text in _of_queue(state)]


def _of_job(state: SchedulerState, job: LiveJob) -> Iterator[str]:
    record, queue = job.record, state.queue
    if record.state.ended:
        yield "it has ended and is still live"
    aside = [job.id in queue.jobs, job.id in queue.parked, job.id in queue.awaiting]
    aside.append(state.jobs.limits.is_aside(job))
    if sum(aside) > 1:
        yield "it waits in several ways at once"
    if any(aside) and (record.state is not JobState.WAITING or record.held):
        yield f"it is in the queue, and {record.state.value}{', on hold' if record.held else ''}"
    if job.at_site and not job.ces:
        yield "it is at a site, and has no computing element"
    if job.ces and not job.at_site:
        yield "it has computing elements, and is at no site"
    if job.at_site and tuple(one.ce.id for one in record.placements) != job.ces:
        yield "its computing elements are not those of its record"
    expected = (HandingOver, InDoubt) if record.state is JobState.READY else (AtSite,)
    if job.at_site and not isinstance(job.attempt, expected):
        yield f"its attempt is {type(job.attempt).__name__}, its state {record.state.value}"
    for ce in job.ces:
        if job.id not in state.cache.commitments_at(ce):
            yield f"nothing is committed for it at {ce}"


def _of_queue(state: SchedulerState) -> Iterator[str]:
    queue, live = state.queue, state.jobs.live
    for job in (*queue.jobs, *queue.parked, *queue.awaiting):
        if job not in live:
            yield f"{job} is in it, and is no live job"
    for line in queue.lines():
        head = line.head()
        if head is None or line.first != head.order:
            yield f"a line of {len(line.jobs)} jobs stands where its first job does not"
