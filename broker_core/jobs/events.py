"""The record of something that happened to an entity; jobs are the first kind of entity (CB-LB-03)."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any, Final, Protocol

from broker_core.jobs.immutable import immutable
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.version import SCHEMA

JOB: Final = "job"
"""The kind of entity that a job is."""


class EventSource(StrEnum):
    """The component that reports an event (CB-LB-03)."""

    UAM = "UAM"
    """User Access Module: submission, cancel, output."""
    SCHEDULER = "Scheduler"
    RS = "RS"
    """Resource Searcher."""
    GLIDEIN = "Glidein"
    AL = "AL"
    """Application Launcher, the sites' adapters included."""
    JS = "JS"
    """Job Starter, on the worker node."""
    IA = "IA"
    """Interactive agent."""


class RecordedEvent(Protocol):
    """One event of the log, whatever kind of entity it is about; append-only.

    Its name on the wire begins with the kind: `job.matched` is about a job. So every stored event tells its
    kind, and `subject` is the one column that names an entity of any kind.
    """

    @property
    def subject(self) -> str:
        """Id of the entity, 22 URL-safe characters; no two entities share one, of whatever kinds."""
        ...

    @property
    def seq(self) -> int:
        """Sequence number within the entity, from 1."""
        ...

    @property
    def time(self) -> float:
        """Seconds since the epoch, UTC."""
        ...

    @property
    def source(self) -> StrEnum:
        """The component that reports it."""
        ...

    @property
    def type(self) -> StrEnum:
        """An event of the entity's table; the value is `kind.name`."""
        ...

    @property
    def old(self) -> StrEnum | None:
        """The state before, of the entity's table; None: it begins."""
        ...

    @property
    def new(self) -> StrEnum:
        """The state after."""
        ...

    @property
    def owner(self) -> str:
        """User the entity belongs to."""
        ...

    @property
    def attempt(self) -> int:
        """Number of the try it speaks of; 0: none."""
        ...

    @property
    def resources(self) -> tuple[str, ...]:
        """Computing elements concerned."""
        ...

    @property
    def reason(self) -> str:
        """Free text for people: why."""
        ...

    @property
    def details(self) -> dict[str, Any]:
        """Further facts, JSON values only."""
        ...

    @property
    def schema(self) -> int:
        """Number of the schema it was written with."""
        ...

    @property
    def position(self) -> int:
        """Place in the broker-wide log."""
        ...


def kind_of(name: str) -> str:
    """The kind of entity that an event is about, by its name on the wire."""
    return name.partition(".")[0]


@immutable
class JobEvent:
    """One event of one job, in the past tense. Append-only; the state is derivable from events."""

    job: str
    """Job id, 22 URL-safe characters."""
    seq: int
    """Sequence number within the job, from 1."""
    time: float
    """Seconds since the epoch, UTC."""
    source: EventSource
    type: EventType
    old: JobState | None
    new: JobState
    owner: str
    """User the job belongs to."""
    attempt: int = 0
    """Number of the execution attempt it speaks of; 0 before the first match."""
    resources: tuple[str, ...] = ()
    """Computing elements concerned."""
    reason: str = ""
    """Free text for people: why."""
    details: dict[str, Any] = field(default_factory=dict)
    """Further facts, JSON values only: `exit_code`, `signal`, `node`, `tried`, ..."""
    schema: int = SCHEMA
    position: int = 0
    """Place in the broker-wide log, given by the store; 0 until recorded."""

    @property
    def subject(self) -> str:
        """See `RecordedEvent`."""
        return self.job
