"""Answers of sources on their way into the cache, a slice at a time: no decision waits for a large one."""

from __future__ import annotations

import math
from collections import deque

from broker_core.resources.facts import SourceHeard
from broker_core.scheduling.state import SchedulerState


class CacheUpdate:
    """Merges answers in the order in which they came."""

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self._cache = state.cache
        self._answers: deque[SourceHeard] = deque()
        self._done = 0
        """Computing elements of the first answer that are merged."""
        self.answers = 0
        """Answers taken so far."""
        self.unforgotten = False
        """Something was heard since `forget`."""

    def forget(self) -> None:
        """Without a cache: what was heard counts no longer (CB-CACHE-09)."""
        self._cache.forget(self._state.jobs.now.monotonic)
        self.unforgotten = False

    @property
    def busy(self) -> bool:
        """True while something is left to be merged."""
        return bool(self._answers)

    def add(self, answer: SourceHeard) -> None:
        """Take an answer."""
        self._answers.append(answer)
        self.answers += 1
        self.unforgotten = True

    def due(self) -> float:
        """See `Step`."""
        return self._state.jobs.now.monotonic if self._answers else math.inf

    def run(self) -> None:
        """Merge a slice of computing elements; to end a large answer is a slice of its own."""
        if not self._answers:
            return
        rules = self._state.rules
        slice_ = rules.slice_facts_few if self._state.arrivals.turns else rules.slice_facts
        while self._answers and slice_ > 0:
            answer = self._answers[0]
            if self._done < len(answer.facts):
                part = answer.facts[self._done : self._done + slice_]
                self._cache.merge(answer, part)
                self._done += len(part)
                slice_ -= len(part)
            else:
                self._cache.close(answer)
                self._answers.popleft()
                self._done = 0
                slice_ -= 1
