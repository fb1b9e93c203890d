"""Without a cache what sources said counts for one round, and the next needs new answers (CB-CACHE-09)."""

from __future__ import annotations

import math

from broker_core.scheduling.cache_update import CacheUpdate
from broker_core.scheduling.effects import Ask
from broker_core.scheduling.queue.scheduling_pass import SchedulingPass
from broker_core.scheduling.state import SchedulerState


class FreshAnswers:
    """Forgets what a round has used, and asks the sources again for jobs that wait."""

    def __init__(self, state: SchedulerState, updates: CacheUpdate, rounds: SchedulingPass) -> None:
        self._state = state
        self._updates = updates
        self._rounds = rounds
        self._wanted = False
        self._answers = 0

    def want(self) -> None:
        """Jobs came, or are matched again: they need answers."""
        self._wanted = True

    def due(self) -> float:
        """See `Step`; it only follows what others do."""
        return math.inf

    def run(self) -> None:
        """See `Step`."""
        state, updates = self._state, self._updates
        if updates.unforgotten and not (updates.busy or self._rounds.more):
            updates.forget()
        if self._answers != updates.answers:
            self._answers = updates.answers
            self._wanted = False
        elif self._wanted and (state.queue.jobs or state.arrivals.turns):
            self._wanted = False
            state.jobs.effects.append(Ask())
