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
        self._board = state.cache.board
        self._seen = 0, 0
        """State of the facts, and the bars, when everything was looked at last."""
        self._wake = -1.0

    @property
    def next_round(self) -> float:
        """When everything is matched again at the latest, monotonic."""
        return self._interval.due()

    def at_rest(self) -> bool:
        """What a site reported of a job changes nothing for others, and the timer already set still holds."""
        if self._queue.jobs and self._changed():
            return False
        return self._cache and self._jobs.now.monotonic < self._wake <= self._next_due()

    def _changed(self) -> bool:
        """True if a job that waits may find what it did not find the last time."""
        board, queue = self._board, self._queue
        return bool(
            queue.dirty or queue.freed or board.raised or self._seen != (board.facts, board.barred)
        )

    def _next_due(self) -> float:
        moment = math.inf
        for due in self._dues:
            at = due()
            if at < moment:
                moment = at
        return moment

    def run(self, *, fired: bool) -> None:
        """A slice of everything. `fired`: the timer that was asked for is used up."""
        self._state.eligibility.begin()
        for run in self._runs:
            run()
        self._seen = self._board.facts, self._board.barred
        moment = max(self._jobs.now.monotonic, self._next_due())
        if fired or moment != self._wake:
            self._wake = moment
            self._jobs.effects.append(Wake(moment))
