"""How the free CPUs and the queue of a computing element went."""

from __future__ import annotations

from array import array

DAY = 86_400.0
LEAST = 55.0
"""Seconds between two points."""
POINTS = 1440
"""Points kept of one computing element, as long as there are few of them."""
ROOM = 2_000_000
"""Points kept of all together: 32 MB."""


class History:
    """Moments with the counts published then; bounded, at most a day."""

    __slots__ = ("free", "times", "waiting")

    def __init__(self) -> None:
        self.times = array("d")
        """Seconds since the epoch, oldest first."""
        self.free = array("i")
        self.waiting = array("i")

    def add(self, time: float, free: int, waiting: int, known: int) -> None:
        """Keep a point; `known`: computing elements that share the room."""
        if self.times and 0 <= time - self.times[-1] < LEAST:
            return
        self.times.append(time)
        self.free.append(min(free, 2**31 - 1))
        self.waiting.append(min(waiting, 2**31 - 1))
        if len(self.times) > _most(known) or self.times[0] < time - DAY:
            self._shorten(time, known)

    def _shorten(self, time: float, known: int) -> None:
        """Drop what is too old, and a tenth of the rest where there are too many."""
        most = _most(known)
        drop = len(self.times) - most + most // 10 if len(self.times) > most else 0
        while drop < len(self.times) and self.times[drop] < time - DAY:
            drop += 1
        for column in (self.times, self.free, self.waiting):
            del column[:drop]


def _most(known: int) -> int:
    return max(12, min(POINTS, ROOM // max(1, known)))
