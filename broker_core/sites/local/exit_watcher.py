"""Waiting for the exits of many processes, own children or not, by one descriptor of the event loop."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Callable

OnExit = Callable[[int], None]


class ExitWatcher:
    """Calls back once for each watched process when it has ended; no polling, no threads, no SIGCHLD."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._poll = select.epoll()
        self._watched: dict[int, tuple[int, OnExit]] = {}
        loop.add_reader(self._poll.fileno(), self._ready)

    def watch(self, pid: int, on_exit: OnExit) -> None:
        """Call `on_exit(pid)` when the process ends; raises ProcessLookupError if it is gone."""
        descriptor = os.pidfd_open(pid)
        self._watched[descriptor] = (pid, on_exit)
        self._poll.register(descriptor, select.EPOLLIN)

    def close(self) -> None:
        """Watch no more."""
        self._loop.remove_reader(self._poll.fileno())
        for descriptor in self._watched:
            os.close(descriptor)
        self._watched.clear()
        self._poll.close()

    def _ready(self) -> None:
        for descriptor, _ in self._poll.poll(0, 64):
            pid, on_exit = self._watched.pop(descriptor)
            self._poll.unregister(descriptor)
            os.close(descriptor)
            on_exit(pid)
