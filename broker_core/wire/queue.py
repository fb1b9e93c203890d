"""The scheduler as it is shown (CB-UI-11): the queue with its reasons, policies, decisions."""

from __future__ import annotations

from typing import Any

from broker_core.wire.submission import Wire

QUEUE_COLUMNS = ("id", "name", "place", "cpus", "kind", "since", "reason", "blocking", "state")
"""Columns of the queue, in its order. `blocking`: ids of what holds it back, at most one; `state`: queued,
limited (others of its batch come first), parked (no known resource could ever serve it), held or sent
(chosen, its site has not answered yet)."""


class QueueView(Wire):
    """The queue of pending requests of the caller, in order."""

    columns: dict[str, list[Any]]
    total: int
    """Waiting jobs of all users."""
    policy: str
    queue_policy: str
    next_round: float | None = None
    """When waiting jobs are matched again at the latest, seconds since the epoch."""


class PolicyView(Wire):
    """A policy that can be chosen."""

    name: str
    kind: str
    """order (of candidates) or queue."""
    origin: str
    """built-in, installed, or the path of the user's file."""
    doc: str
    chosen: bool
    error: str = ""
    """Why it cannot be used, for a file that does not load; of the order in force, why the built-in one had
    to step in last time."""


class PolicyChoice(Wire):
    """Choose policies; empty: leave it as it is."""

    order: str = ""
    queue: str = ""


class DecisionView(Wire):
    """One decision of the scheduler."""

    number: int
    time: float
    job: str
    name: str
    what: str
    """chosen, postponed, aborted, next-choice, re-matched, ..."""
    resources: list[str] = []
    reason: str = ""
    considered: int = 0
    """Resources looked at."""
    matching: int = 0


class FailedChoice(Wire):
    """A choice of the selection that did not take the job (SA-UI-01)."""

    ces: list[str]
    """Its computing elements: one, or those of a set."""
    error: str


class WhyView(Wire):
    """Why a job is not running, by what decides it."""

    job: str
    headline: str
    """One sentence."""
    details: list[str] = []
    """Further sentences, the most important first."""
    place: int = 0
    """1 for the head of the queue; 0 if it is not in it."""
    held_back_by: str = ""
    """Job that must start first."""
    matching_now: int = 0
    matching_ever: int = 0
    known: int = 0
    next_round: float | None = None
    """When it is matched again at the latest, seconds since the epoch; None: it waits for no match."""
    remedy: str = ""
    """What its owner can do."""
    trying: list[str] = []
    """Computing elements of the choice that is being tried; none: no choice is (SA-UI-01)."""
    failed: list[FailedChoice] = []
    """Choices that did not take it, each once with its last error, the latest last; at most 50."""
