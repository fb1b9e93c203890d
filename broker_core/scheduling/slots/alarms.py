"""When which glidein or claim is to be looked at: a heap, in which what was moved is skipped."""

from __future__ import annotations

import heapq
import math


class Alarms:
    """One moment for each subject, by the monotonic clock."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def set(self, subject: str, at: float) -> None:
        """Ring for a subject at a moment, in place of an earlier wish."""
        if self._at.get(subject) != at:
            self._at[subject] = at
            heapq.heappush(self._heap, (at, subject))

    def clear(self, subject: str) -> None:
        """Do not ring for a subject."""
        self._at.pop(subject, None)

    def due(self, now: float) -> list[str]:
        """Take out the subjects whose moment has come."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            at, subject = heapq.heappop(self._heap)
            if self._at.get(subject) == at:
                del self._at[subject]
                found.append(subject)
        return found

    def next(self) -> float:
        """The next moment; infinity if there is none."""
        while self._heap and self._at.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else math.inf
