"""A synthetic site: processors, a queue served first come first served, and delays. All times: seconds."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from broker_core.jobs.attempt_events import (
    AttemptAccepted,
    AttemptEnded,
    AttemptRefused,
    AttemptReport,
    AttemptStarted,
)
from broker_core.jobs.placement import Component

_UNFIT = re.compile(r"[^\w.-]+")
"""What a host's name never has."""


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What is known of a synthetic site."""

    name: str
    cpus: int
    max_queue: int = 10_000
    """Jobs that may wait there; the next is refused."""
    submission_delay: float = 0.0
    """From the broker's submission until the site has the job and answers."""
    poll_delay: float = 0.0
    """From a start or an end until the broker hears of it."""
    publish_interval: float = 0.0
    """Between two of the site's reports of its load; 0: one report, at the start."""
    answer_delay: float = 0.0
    """From the broker's question to the answer, without a cache (CB-CACHE-09)."""
    speed: float = 1.0
    """How fast its processors are; a job takes its run time divided by this."""
    busy: int = 0
    """Processors that others hold all the time, which no report tells of."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Further attributes by their GLUE names."""
    known_as: str = ""
    """Its computing element, if it has a name of its own."""

    @property
    def ce(self) -> str:
        """Its computing element."""
        return self.known_as or f"{_UNFIT.sub('-', self.name)}:2119/jobmanager-fcfs-trace"


@dataclass(slots=True)
class SimulatedAttempt:
    """One execution attempt at a site."""

    component: Component
    cpus: int
    run: float
    """Seconds on a processor of speed 1."""
    index: int
    """Place of the job in the trace."""
    start: float = 0.0
    """When its application started."""


class SimulatedBroker(Protocol):
    """What a site needs of the run: the time, an alarm, the broker's ear, and somebody to write it down."""

    now: float
    """Virtual time, seconds since the first submission."""
    epoch: float
    """The wall clock at virtual time 0."""

    def after(self, delay: float, action: Callable[[Any], None], subject: Any) -> None:
        """Call `action(subject)` after a delay; without one, before anything else happens."""
        ...

    def at(self, moment: float, action: Callable[[Any], None], subject: Any) -> None:
        """Call `action(subject)` at a moment, after what was to happen then already."""
        ...

    def tell(self, message: AttemptReport, delay: float) -> None:
        """The broker hears a message after a delay."""
        ...

    def started(self, attempt: SimulatedAttempt, site: SimulatedSite) -> None:
        """An application started now."""
        ...

    def ended(self, attempt: SimulatedAttempt, site: SimulatedSite) -> None:
        """An application ended now."""
        ...


class SimulatedSite:
    """A site at work; it starts and ends jobs on its own, and the broker only hears of it."""

    def __init__(self, facts: SiteFacts, number: int, around: SimulatedBroker) -> None:
        self.facts = facts
        self.number = number
        self.free = facts.cpus - facts.busy
        self.running = 0
        self.queue: deque[SimulatedAttempt] = deque()
        self._around = around

    def submit(self, attempt: SimulatedAttempt) -> None:
        """Take an attempt, or refuse it, after the delay of the submission."""
        self._around.after(self.facts.submission_delay, self._arrive, attempt)

    def _arrive(self, attempt: SimulatedAttempt) -> None:
        if len(self.queue) >= self.facts.max_queue and (self.queue or attempt.cpus > self.free):
            reason = f"{len(self.queue)} jobs wait there already"
            self._around.tell(AttemptRefused(attempt.component, reason), 0.0)
            return
        self._around.tell(AttemptAccepted(attempt.component), 0.0)
        if self.queue or attempt.cpus > self.free:
            self.queue.append(attempt)
        else:
            self._start(attempt)

    def _start(self, attempt: SimulatedAttempt) -> None:
        around = self._around
        self.free -= attempt.cpus
        self.running += 1
        attempt.start = around.now
        around.started(attempt, self)
        message = AttemptStarted(attempt.component, around.epoch + around.now)
        around.tell(message, self.facts.poll_delay)
        around.at(around.now + attempt.run / self.facts.speed, self._end, attempt)

    def _end(self, attempt: SimulatedAttempt) -> None:
        around = self._around
        self.free += attempt.cpus
        self.running -= 1
        around.ended(attempt, self)
        message = AttemptEnded(
            attempt.component, around.epoch + around.now, 0, started=around.epoch + attempt.start
        )
        around.tell(message, self.facts.poll_delay)
        while self.queue and self.queue[0].cpus <= self.free:
            self._start(self.queue.popleft())
