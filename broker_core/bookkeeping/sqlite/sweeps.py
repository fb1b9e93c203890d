"""The sweeps of which jobs still share their story; they begin one by one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from broker_core.bookkeeping.entries import EntityEntry, LogEntry
from broker_core.jobs.events import JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.sweep import Sweep

_BEGUN = 4000
"""Jobs that have begun of which the list of input files is remembered: their sites soon ask for it."""


@dataclass(slots=True, eq=False)
class _Open:
    sweep: Sweep
    left: set[int] = field(default_factory=set)
    """Jobs that are not known to have their own events on the disk."""


class Sweeps:
    """What the event loop knows of the sweeps; whether a job has begun is decided by the disk alone."""

    def __init__(self) -> None:
        self._of_job: dict[str, tuple[_Open, int]] = {}
        self._open: dict[int, _Open] = {}
        self._beginning: set[str] = set()
        self._begun: OrderedDict[str, str] = OrderedDict()
        """Names of the lists of input files of the jobs that began last."""

    def add(self, sweep: Sweep, begun: Iterable[int] = ()) -> None:
        """Take a sweep over, without the jobs that have begun."""
        gone = set(begun)
        found = _Open(sweep, {index for index in range(len(sweep.ids)) if index not in gone})
        if found.left:
            self._open[sweep.first] = found
            self._of_job.update((sweep.ids[index], (found, index)) for index in found.left)

    def open(self) -> tuple[Sweep, ...]:
        """Sweeps with jobs that share their story, the oldest first."""
        return tuple(one.sweep for one in self._open.values())

    def record(self, job: str) -> JobRecord | None:
        """The row of a job that shares its sweep's story."""
        found = self._of_job.get(job)
        return None if found is None else found[0].sweep.record(found[1])

    def records(self, jobs: Sequence[str]) -> list[tuple[int, JobRecord]]:
        """Numbers and rows of those of the jobs that share their sweep's story."""
        found = [self._of_job[job] for job in jobs if job in self._of_job]
        return [(one.sweep.number(index), one.sweep.record(index)) for one, index in found]

    def events(self, job: str) -> list[JobEvent]:
        """The events of such a job."""
        found = self._of_job.get(job)
        return [] if found is None else found[0].sweep.events(found[1])

    def files(self, job: str) -> str | None:
        """Name of the list of input files of such a job, or of one that began lately: empty where it has
        none; None: not known here."""
        found = self._of_job.get(job)
        return self._begun.get(job) if found is None else found[0].sweep.files

    def with_beginnings(
        self, entries: Sequence[LogEntry | EntityEntry]
    ) -> tuple[list[LogEntry | EntityEntry], list[str]]:
        """The entries with, before the first of a job, the events that it shared so far; and such jobs."""
        if not self._of_job:
            return list(entries), []
        whole: list[LogEntry | EntityEntry] = []
        beginning: list[str] = []
        for entry in entries:
            job = entry.event.subject
            if job in self._of_job and job not in self._beginning:
                self._beginning.add(job)
                beginning.append(job)
                whole += self._beginning_of(job)
            whole.append(entry)
        return whole, beginning

    def _beginning_of(self, job: str) -> list[LogEntry]:
        found, index = self._of_job[job]
        entries: list[LogEntry] = []
        record: JobRecord | None = None
        for event in found.sweep.events(index):
            record = apply(record, event)
            entries.append(LogEntry(event, record, found.sweep.files))
        return entries

    def begun(self, jobs: Iterable[str]) -> None:
        """The own events of jobs are durable."""
        for job in jobs:
            found, index = self._of_job.pop(job)
            self._beginning.discard(job)
            found.left.discard(index)
            self._begun[job] = found.sweep.files
            if not found.left:
                self._open.pop(found.sweep.first, None)
        while len(self._begun) > _BEGUN:
            self._begun.popitem(last=False)

    def not_begun(self, jobs: Iterable[str]) -> None:
        """The own events of jobs were not kept."""
        self._beginning.difference_update(jobs)
