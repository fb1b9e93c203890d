"""What is given to the store to be kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from broker_core.jobs.annotations import Annotation, AnnotationChange
from broker_core.jobs.events import JobEvent, RecordedEvent
from broker_core.jobs.record import JobRecord
from broker_core.jobs.sweep import Sweep
from broker_core.wire.submission import Receipt, SandboxFile


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An event, and the job's row after it; both are written in one transaction (CB-LB-01)."""

    event: JobEvent
    """With its position, taken from `Store.next_position()`."""
    record: JobRecord
    files: str = ""
    """With the first event of a job from a sweep: name of the list of its input files."""


@dataclass(frozen=True, slots=True)
class EntityEntry:
    """An event of an entity without a row of its own: its state is what its events add up to."""

    event: RecordedEvent
    """With its position, taken from `Store.next_position()`."""


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """All that one submission leaves in the store: kept as a whole or not at all."""

    owner: str
    key: str
    """Made by the client; with the owner it names the submission for ever."""
    receipt: Receipt
    descriptions: Mapping[str, str]
    """SHA-256 (hex) of a description's text to the text."""
    entries: Sequence[LogEntry]
    files: Mapping[str, tuple[SandboxFile, ...]] = field(default_factory=dict)
    """Job id to its input sandbox; the jobs of one description give the same tuple."""
    sweeps: Sequence[tuple[Sweep, tuple[SandboxFile, ...]]] = ()
    """Jobs that differ in their value alone, with their input sandbox."""
    annotations: Mapping[str, Annotation] = field(default_factory=dict)
    """Job id to its tags and note, for those that begin with some."""

    @property
    def last(self) -> int:
        """Place in the log of the last event of its jobs; 0 without jobs."""
        places = [entry.event.position for entry in self.entries] + [sweep.last for sweep, _ in self.sweeps]
        return max(places, default=0)


@dataclass(frozen=True, slots=True)
class Document:
    """A small JSON document of a user, e.g. the workspace of the desktop."""

    owner: str
    name: str
    body: str
    """JSON text."""


@dataclass(slots=True)
class Annotating:
    """A change to the tags and notes of jobs, which is no event of their lives."""

    owner: str
    jobs: tuple[str, ...]
    change: AnnotationChange
    first: int
    """Place in the log of the change to the first job; that of the next is one more, and so on."""
    refused: dict[str, str] = field(default_factory=dict)
    """Filled when it is durable: job id to why it was left as it is."""

    @property
    def last(self) -> int:
        """Place in the log of the change to the last job."""
        return self.first + len(self.jobs) - 1


@dataclass(frozen=True, slots=True)
class OutsideChange:
    """What is to be kept of jobs that were submitted outside CrossDesk, which have no events."""

    site: str
    rows: Mapping[str, str]
    """Id to JSON text, in place of what was kept of it before."""
    gone: Sequence[str] = ()
    """Ids of those to be forgotten."""


@dataclass(frozen=True, slots=True)
class Tidying:
    """A wish for room: records that serve no more are removed, then free pages are given back to the disk."""

    in_use: frozenset[int]
    """First places of the sweeps whose records are still needed."""


@dataclass(frozen=True, slots=True)
class RefusedJobs:
    """Jobs of a submission that was refused: counted, and nothing else is kept of them (CB-LIFE-06)."""

    owner: str
    count: int
    time: float
    """Seconds since the epoch."""


Payload = (
    tuple[LogEntry | EntityEntry, ...]
    | NewSubmission
    | Document
    | Annotating
    | OutsideChange
    | RefusedJobs
    | Tidying
)
"""One thing that becomes durable as a whole."""
