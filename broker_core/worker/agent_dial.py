"""The agent's way out: it calls every place where a desk may be, again and again (CB-IA-02)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from socket import socket

from broker_core.interactive.meeting import AGENT, NoMeeting, Place, meet

log = logging.getLogger("crossdesk.agent")
SHORTEST = 0.1
"""Seconds before the first new attempt; twice as long before each further one, up to the interval set."""
AT_ONCE = 32
"""Connections that may be open; more would only come from somebody who plays with us."""


class Dialer:
    """Calls one place; every connection on which a desk is met is served while the next one waits."""

    def __init__(
        self, place: Place, token: str, interval: float, serve: Callable[[socket], Awaitable[None]]
    ) -> None:
        self._place = place
        self._token = token
        self._interval = interval
        self._serve = serve
        self._served: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Call until cancelled."""
        pause = min(SHORTEST, self._interval)
        while True:
            if len(self._served) >= AT_ONCE:
                await asyncio.wait(self._served, return_when=asyncio.FIRST_COMPLETED)
            try:
                connection = await meet(self._place, AGENT, self._token, None)
            except NoMeeting as error:
                log.info("%s", error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, self._interval)
                continue
            pause = min(SHORTEST, self._interval)
            task = asyncio.ensure_future(self._serve(connection))
            self._served.add(task)
            task.add_done_callback(self._served.discard)
