"""What must always hold between the parts of the scheduler's state.

Tests ask after every message, and a broker once it has taken its jobs over.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.jobs.states import JobState
from broker_core.scheduling.live_job import AtSite, HandingOver, InDoubt, LiveJob
from broker_core.scheduling.state import SchedulerState


def problems(state: SchedulerState) -> list[str]:
    """Each contradiction in one sentence; empty if all is well. Changes nothing."""
    found = [f"Job {job.id}: {text}." for job in state.jobs.live.values() for text in _of_job(state, job)]
    return found + [f"The queue: {text}." for text in _of_queue(state)]


def _of_job(state: SchedulerState, job: LiveJob) -> Iterator[str]:
    record, queue = job.record, state.queue
    if record.state.ended:
        yield "it has ended and is still live"
    aside = [job.id in queue.jobs, job.id in queue.parked, job.id in queue.awaiting]
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
