"""Jobs of one description that differ in their value alone: one record, until one of them differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from broker_core.jobs.events import JobEvent
from broker_core.jobs.record import JobRecord, apply, first_record


@dataclass(slots=True)
class Sweep:
    """What all its jobs have in common, and what tells them apart.

    Every job has places in the log from the beginning, as if its events were written; they are written
    when the first event follows that the others do not share.
    """

    story: tuple[JobEvent, ...]
    """What happened to each job so far; job, place in the log, name and value are blank."""
    ids: tuple[str, ...]
    names: tuple[str, ...]
    """Short names, in the order of `ids`; a single one if all have the same."""
    values: tuple[str, ...]
    files: str = ""
    """Name of the list of their input files; empty if they have none."""
    first: int = 0
    """Place in the log of the first event of the first job; 0 until recorded."""

    @property
    def owner(self) -> str:
        """User the jobs belong to."""
        return self.story[0].owner

    @property
    def last(self) -> int:
        """Place in the log of the last event of the last job."""
        return self.first + len(self.ids) * len(self.story) - 1

    def number(self, index: int) -> int:
        """Place in the log of the first event of a job: it orders the jobs table."""
        return self.first + index * len(self.story)

    def place(self, index: int) -> int:
        """Place in the log of the last event of a job."""
        return self.number(index) + len(self.story) - 1

    def name(self, index: int) -> str:
        """Short name of a job."""
        return self.names[index] if len(self.names) > 1 else self.names[0]

    def common(self) -> JobRecord:
        """The row that all jobs have, with id, name and value blank and the place of the first one."""
        record = first_record(self.story[0])
        for event in self.story[1:]:
            record = apply(record, event)
        record.position = self.first + len(self.story) - 1  # type: ignore[misc] # shared with nobody yet
        return record

    def record(self, index: int) -> JobRecord:
        """The row of a job."""
        record = self.common()
        record.id, record.name = self.ids[index], self.name(index)  # type: ignore[misc]
        record.parameter = self.values[index]  # type: ignore[misc]
        record.position = self.place(index)  # type: ignore[misc]
        return record

    def records(self) -> Iterator[JobRecord]:
        """The rows of all jobs."""
        return map(self.record, range(len(self.ids)))

    def events(self, index: int) -> list[JobEvent]:
        """The events of a job."""
        own = {"name": self.name(index), "parameter": self.values[index]}
        return [
            _of_job(event, self.ids[index], self.number(index) + step, {} if step else own)
            for step, event in enumerate(self.story)
        ]


def _of_job(event: JobEvent, job: str, position: int, own: dict[str, str]) -> JobEvent:
    return JobEvent(
        job=job,
        seq=event.seq,
        time=event.time,
        source=event.source,
        type=event.type,
        old=event.old,
        new=event.new,
        owner=event.owner,
        attempt=event.attempt,
        resources=event.resources,
        reason=event.reason,
        details=event.details | own,
        schema=event.schema,
        position=position,
    )
