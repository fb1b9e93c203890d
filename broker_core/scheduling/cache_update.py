"""Answers of sources on their way into the cache, a slice at a time: no decision waits for a large one."""

from __future__ import annotations

from collections import deque

from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SourceHeard


class CacheUpdate:
    """Merges answers in the order in which they came."""

    def __init__(self, cache: ResourceCache) -> None:
        self._cache = cache
        self._answers: deque[SourceHeard] = deque()
        self._done = 0
        """Computing elements of the first answer that are merged."""

    @property
    def busy(self) -> bool:
        """True while something is left to be merged."""
        return bool(self._answers)

    def add(self, said: SourceHeard) -> None:
        """Take an answer."""
        self._answers.append(said)

    def run(self, slice_: int) -> None:
        """Merge up to so many computing elements; to end a large answer is a slice of its own."""
        while self._answers and slice_ > 0:
            said = self._answers[0]
            if self._done < len(said.facts):
                part = said.facts[self._done : self._done + slice_]
                self._cache.merge(said, part)
                self._done += len(part)
                slice_ -= len(part)
            else:
                self._cache.close(said)
                self._answers.popleft()
                self._done = 0
                slice_ -= 1
