"""How fast the pictures of a display come, in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

_SPAN = 2.0
"""Seconds over which is counted."""


class DisplayFigures:
    """Counts pictures and their bytes. No widgets."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds."""
        self._clock = clock
        self._arrived: deque[tuple[float, int]] = deque()
        self._delay = 0
        self._kind = ""

    def add(self, size: int, delay: int, kind: str) -> None:
        """A picture of so many bytes was painted; `delay`: milliseconds, 0: not known; `kind`: a word."""
        self._arrived.append((self._clock(), size))
        self._delay = delay or self._delay
        self._kind = kind

    def clear(self) -> None:
        """Begin anew."""
        self._arrived.clear()
        self._delay, self._kind = 0, ""

    def text(self) -> str:
        """Pictures a second, their delay, bits a second, and their kind."""
        begin = self._clock() - _SPAN
        while self._arrived and self._arrived[0][0] < begin:
            self._arrived.popleft()
        rate = len(self._arrived) / _SPAN
        found = [f"{rate:.0f} pictures/s" if rate >= 1 else "still"]
        if self._delay:
            found.append(f"{self._delay} ms")
        if self._arrived:
            found.append(f"{8 * sum(size for _, size in self._arrived) / _SPAN / 1e6:.1f} Mbit/s")
        return " · ".join([*found, self._kind] if self._kind else found)
