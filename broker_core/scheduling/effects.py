"""What the Scheduling Agent wants done: requests for I/O, carried out in order by the engine."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jobs.events import JobEvent
from broker_core.jobs.record import JobRecord
from broker_core.scheduling.messages import SiteMessage


@dataclass(frozen=True, slots=True)
class Record:
    """Write an event and the row it leads to, in one transaction."""

    event: JobEvent
    record: JobRecord


@dataclass(frozen=True, slots=True)
class Submit:
    """Hand an attempt to a site, once everything recorded before this effect is durable."""

    record: JobRecord
    ce: str
    """Computing element; of a set all of them, joined with `, `."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """End an attempt at its site, once everything recorded before this effect is durable."""

    record: JobRecord
    ce: str


@dataclass(frozen=True, slots=True)
class Wake:
    """Send a TimerFired at this moment of the monotonic clock; replaces every earlier wish."""

    at: float


@dataclass(frozen=True, slots=True)
class Stray:
    """A site spoke of a job that is not live: record it with the ended job, if there is one."""

    message: SiteMessage
    said: str
    """The message in words."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask every source now: without a cache nothing else lets waiting jobs be matched (CB-CACHE-09)."""


Effect = Record | Submit | Cancel | Wake | Stray | Ask
