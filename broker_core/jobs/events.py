"""The record of something that happened to a job (CB-LB-03)."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any

from broker_core.jobs.immutable import immutable
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.version import SCHEMA


class Source(StrEnum):
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


@immutable
class JobEvent:
    """One event of one job, in the past tense. Append-only; the state is derivable from events."""

    job: str
    """Job id, 22 URL-safe characters."""
    seq: int
    """Sequence number within the job, from 1."""
    time: float
    """Seconds since the epoch, UTC."""
    source: Source
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
