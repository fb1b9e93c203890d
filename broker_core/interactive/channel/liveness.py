"""How long the other end of a link has not answered: known long before the link counts as broken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_STEPS = 4
"""Looks at the clock within the time that an answer may take."""


class Liveness:
    """Asks when nothing was heard for `time` seconds, and tells when no answer came for as long.

    `ask` sends something that is answered at once; `tell` gets whole seconds, and 0 when an answer came.
    """

    def __init__(self, ask: Callable[[], None], tell: Callable[[int], None], time: float) -> None:
        self._ask, self._tell, self._time = ask, tell, time
        self._loop = asyncio.get_running_loop()
        self._heard = 0.0
        self._asked: float | None = None
        self._told = 0
        self._timer: asyncio.TimerHandle | None = None

    def heard(self) -> None:
        """Something arrived; the first time begins the watch."""
        self._heard, self._asked = self._loop.time(), None
        if self._told:
            self._say(0)
        if self._timer is None:
            self._look_in(self._time)

    def asked(self) -> None:
        """Something was sent that is answered at once."""
        if self._asked is None and self._timer is not None:
            self._asked = self._loop.time()
            self._look_in(self._time)

    def stop(self) -> None:
        """Watch no more, until something is heard."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_in(self, seconds: float) -> None:
        self.stop()
        self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        if self._asked is not None:
            if now - self._asked >= self._time:
                self._say(max(1, round(now - self._asked)))
            self._look_in(self._time / _STEPS)
        elif now - self._heard < self._time:
            self._look_in(self._heard + self._time - now)
        else:
            self._ask()
            self.asked()

    def _say(self, seconds: int) -> None:
        if seconds != self._told:
            self._told = seconds
            self._tell(seconds)
