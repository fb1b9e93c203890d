"""What followers of the event stream hear of beside jobs: that resources, sites, or the scheduler's
views, changed.

A change is a number that rises, told at most once a second: who shows these things asks for them again. The
numbers have no place in the log, so they are told anew to everyone who (re)connects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

PAUSE = 1.0
"""Seconds between two tellings at least."""


@dataclass(frozen=True, slots=True)
class Change:
    """The numbers as they were told last."""

    resources: int
    """Of what is known of resources and of the sources of that knowledge."""
    scheduler: int
    """Of the policies in force, and of the queue's order and reasons."""
    sites: int
    """Of what is shown of the sites: their settings, connections and counts."""


class ChangeTopics:
    """Gathers changes, then raises the numbers and wakes the followers."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.told = Change(0, 0, 0)
        self._next = Change(0, 0, 0)
        self._timer: asyncio.TimerHandle | None = None
        self._last = float("-inf")

    def resources_changed(self) -> None:
        """Something of the resources or their sources is different."""
        self._change(replace(self._next, resources=self.told.resources + 1))

    def scheduler_changed(self) -> None:
        """The policies, or the queue's order or reasons, are different."""
        self._change(replace(self._next, scheduler=self.told.scheduler + 1))

    def sites_changed(self) -> None:
        """Something of the sites is different."""
        self._change(replace(self._next, sites=self.told.sites + 1))

    def close(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()

    def _change(self, to: Change) -> None:
        self._next = to
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._last + PAUSE), self._tell)

    def _tell(self) -> None:
        self._timer = None
        self._last = asyncio.get_running_loop().time()
        self.told = self._next
        self._wake()
