"""How long the window could not do anything."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer

from tests.benchmarks.figure import Figure

MOST_MS = 30
"""The longest block of the window that nobody feels."""


class Gaps:
    """The longest gap between two ticks of a 1 ms timer, by the clock and by what the thread worked in it.

    The clock counts also what other processes and threads took; on a busy machine only the second figure
    says what the window itself did.
    """

    def __init__(self) -> None:
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self.reset()
        self._timer.start(1)

    def reset(self) -> None:
        """Forget the gaps so far."""
        self._last, self.longest = time.perf_counter(), 0.0
        self._worked, self.work = time.thread_time(), 0.0

    def figure(self, what: str, at_most: float | None = MOST_MS) -> Figure:
        """The longest gap since `reset`."""
        longest, work = round(self.longest * 1000, 1), round(self.work * 1000, 1)
        return Figure(what, longest, "ms", at_most=at_most, processor=work)

    def _tick(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        self.longest, self.work = max(self.longest, now - self._last), max(self.work, worked - self._worked)
        self._last, self._worked = now, worked
