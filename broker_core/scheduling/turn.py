"""One call of the scheduler: each part does a slice of its work, the rest follows by a Wake at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from broker_core.reactor.reactor import Wake
from broker_core.scheduling.deadlines import Deadlines
from broker_core.scheduling.queue.rematch_interval import RematchInterval
from broker_core.scheduling.state import SchedulerState


class Step(Protocol):
    """A part of the scheduler's work."""

    def due(self) -> float:
        """When it has something to do, monotonic: now or earlier at once, infinity not by itself."""
        ...

    def run(self) -> None:
        """Do a slice of what there is to do now; nothing is no error."""
        ...


class Turn:
    """Runs the steps in order and asks to be woken for what is due next."""

    def __init__(
        self, state: SchedulerState, interval: RematchInterval, steps: Sequence[Step], deadlines: Deadlines
    ) -> None:
        """`steps`: in their order, the interval among them."""
        self._state = state
        self._jobs, self._queue = state.jobs, state.queue
        self._cache = state.rules.cache
        self._interval = interval
        self._runs = [step.run for step in steps]
        self._dues = [deadlines.due, *(step.due for step in steps)]
        self._deadlines = deadlines
        self._wake = -1.0

    @property
    def next_round(self) -> float:
        """When everything is matched again at the latest, monotonic."""
        return self._interval.due()

    def at_rest(self) -> bool:
        """No job waits and no deadline is owed: what a site reports of a job changes nothing for others, and
        the timer already set still holds."""
        if self._queue.jobs or self._jobs.limits.changed or self._wake != self._interval.due():
            return False
        return self._wake > self._jobs.now.monotonic and self._cache and not self._deadlines.owed()

    def run(self, *, fired: bool) -> None:
        """A slice of everything. `fired`: the timer that was asked for is used up."""
        self._state.eligibility.begin()
        for run in self._runs:
            run()
        moment = math.inf
        for due in self._dues:
            at = due()
            if at < moment:
                moment = at
        moment = max(self._jobs.now.monotonic, moment)
        if fired or moment != self._wake:
            self._wake = moment
            self._jobs.effects.append(Wake(moment))
