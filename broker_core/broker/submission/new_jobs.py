"""New jobs: first events and rows, or one record for all where they differ in their value alone."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from broker_core.bookkeeping.entries import LogEntry
from broker_core.broker.submission.expansion import JobSeed, files_of, helper_for
from broker_core.jdl.description import JobDescription
from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import JobRecord, first_record
from broker_core.jobs.states import JobState
from broker_core.jobs.sweep import Sweep
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.demand import Demand, demand_of
from broker_core.scheduling.queue.arrivals import taken_over
from broker_core.system.clock import now
from broker_core.wire.submission import Caution, SandboxFile, Submission, SubmissionItem


@dataclass(frozen=True, slots=True)
class CheckedItem:
    """An item that passed every check."""

    item: SubmissionItem
    description: JobDescription
    sha: str
    warnings: tuple[Caution, ...]
    own: dict[str, JobDescription]
    """Value to description, where the value changes what matching reads; else empty."""


def seeds_of(item: CheckedItem) -> Iterator[JobSeed]:
    """What tells the jobs of an item apart, in order."""
    return helper_for(item.item, item.description).expand(item.item, item.description)


def alike(item: CheckedItem) -> bool:
    """True for jobs that only differ in a value which neither matching nor their input files depend on."""
    values = item.item.values or []
    if item.own or item.description.interactive or len(values) < 2:
        return False
    files = files_of(item.item)
    return all(files(value) == files(values[0]) for value in values)


@dataclass(frozen=True, slots=True)
class NewJob:
    """One job of its own, not recorded yet."""

    entry: LogEntry
    demand: Demand
    files: tuple[SandboxFile, ...]


def jobs_of(owner: str, submission: Submission, item: CheckedItem, batch: str) -> Iterator[NewJob]:
    """The jobs of an item, each with its own first event."""
    files = files_of(item.item)
    text = item.item.description
    shared = demand_of(item.description, text, "", submission.site)
    for seed in seeds_of(item):
        description = item.own.get(seed.parameter, item.description)
        demand = demand_of(description, text, seed.parameter, submission.site) if item.own else shared
        details = _details(seed, description, item.sha, batch, submission)
        event = _submitted(owner, new_id(), details)
        yield NewJob(LogEntry(event, first_record(event)), demand, files(seed.parameter))


def sweep_of(owner: str, submission: Submission, item: CheckedItem, batch: str) -> tuple[Sweep, Demand]:
    """The jobs of an item that differ in their value alone, taken over already, and what they ask for."""
    seeds = list(seeds_of(item))
    details = _details(JobSeed(""), item.description, item.sha, batch, submission)
    begun = _submitted(owner, "", details)
    story = begun, *taken_over(begun, submission.hold)
    names = tuple(seed.name for seed in seeds)
    sweep = Sweep(
        story=story,
        ids=tuple(new_id() for _ in seeds),
        names=names if len(set(names)) > 1 else names[:1],
        values=tuple(seed.parameter for seed in seeds),
    )
    return sweep, demand_of(item.description, item.item.description, "", submission.site)


def _details(
    seed: JobSeed, description: JobDescription, sha: str, batch: str, submission: Submission
) -> dict[str, object]:
    return {
        "name": seed.name,
        "parameter": seed.parameter,
        "structure": description.structure,
        "interactive": description.interactive,
        "cpus": description.cpus,
        "description": sha,
        "batch": batch,
        "pinned": submission.site,
        "hold": submission.hold,
    }


def rerun_of(record: JobRecord, item: CheckedItem, site: str, name: str) -> NewJob:
    """A job that repeats another one, in its place of the batch; `item` has its value among others.

    `site`: the only one allowed; empty: any.
    """
    description = item.own.get(record.parameter, item.description)
    details = {
        "name": name,
        "parameter": record.parameter,
        "structure": description.structure,
        "interactive": description.interactive,
        "cpus": description.cpus,
        "description": item.sha,
        "batch": record.batch,
        "pinned": site,
        "rerun_of": record.id,
    }
    event = _submitted(record.owner, new_id(), details)
    demand = demand_of(description, item.item.description, record.parameter, site)
    return NewJob(LogEntry(event, first_record(event)), demand, tuple(item.item.files))


def _submitted(owner: str, job: str, details: dict[str, object]) -> JobEvent:
    return JobEvent(
        job=job,
        seq=1,
        time=now().wall,
        source=EventSource.UAM,
        type=EventType.SUBMITTED,
        old=None,
        new=JobState.SUBMITTED,
        owner=owner,
        reason="Accepted by the broker",
        details=details,
    )


def new_id() -> str:
    """22 URL-safe random characters, 128 bits; never with a dash first, which would look like an option."""
    made = "-"
    while made[0] == "-":
        made = base64.urlsafe_b64encode(_random.take(16))[:22].decode()
    return made


class _RandomBytes:
    """The kernel's random bytes, fetched many at a time: each call of the kernel costs as much as a job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = b""

    def take(self, count: int) -> bytes:
        with self._lock:
            if len(self._left) < count:
                self._left = os.urandom(256 * count)
            taken, self._left = self._left[:count], self._left[count:]
        return taken


_random = _RandomBytes()
