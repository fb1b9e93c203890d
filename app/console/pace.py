"""How fast a thread works beside the window: in short turns, and not at all while the window is busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

BEAT_MS = 20
"""Between two beats of a window that has nothing to do."""
_WORK_S, _REST_S = 0.0005, 0.003
"""Seconds of work and of rest in turn: what works all the time keeps from the window what both need."""
_LATE_S = 0.03
"""Seconds between two beats from which on the window is busy."""
_SILENT_S = 0.1
"""Seconds without a beat after which the window may be waiting for that very work."""


class Pace:
    """The window beats; the thread rests, unless somebody is in a hurry for what it does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds."""
        self._clock = clock
        self._hurry = threading.Event()
        self._last, self._late = -_SILENT_S, False

    def hurry(self) -> None:
        """Work without rests from now on."""
        self._hurry.set()

    def beat(self) -> None:
        """To be called by a timer of the window, every `BEAT_MS`."""
        now = self._clock()
        self._late, self._last = now - self._last > _LATE_S, now

    def rest(self) -> None:
        """Let the window work: for a moment, and on while it is busy."""
        while self._clock() - self._last < _SILENT_S:
            if self._hurry.wait(_REST_S) or not self._late:
                return

    def profiler(self) -> Callable[..., None]:
        """What `sys.setprofile` takes: called at each call of a thread, it makes that rest in time."""
        rested = time.perf_counter()

        def called(*of: object) -> None:
            nonlocal rested
            if time.perf_counter() - rested > _WORK_S:
                self.rest()
                rested = time.perf_counter()

        return called
