"""Batch jobs whose glideins are asked for later: enough of their kind wait at their site (CB-GLI-02)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_core.jobs.placement import Component
from broker_core.scheduling.slots.alarms import Alarms
from broker_core.scheduling.slots.messages import GlideinWanted
from broker_core.scheduling.slots.records import Key, key_of

BACKLOG = "backlog"
"""Subject of its alarm."""


class Backlog:
    """In the order in which they came. It is in no log: after a restart the scheduler wants theirs again."""

    def __init__(self, alarms: Alarms, patience: float) -> None:
        """`patience`: seconds after which a job is given up, as if its glidein had waited at the site."""
        self._alarms, self._patience = alarms, patience
        self._waiting: dict[Key, tuple[GlideinWanted, float]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, component: Component) -> bool:
        return key_of(component) in self._waiting

    def __iter__(self) -> Iterator[GlideinWanted]:
        return iter([wanted for wanted, _ in self._waiting.values()])

    def first(self, fits: Callable[[GlideinWanted], bool]) -> GlideinWanted | None:
        """The first that fits."""
        return next((wanted for wanted, _ in self._waiting.values() if fits(wanted)), None)

    def wanted(self, component: Component) -> GlideinWanted | None:
        """What a component asked for, or another attempt of it."""
        found = self._waiting.get(key_of(component))
        return None if found is None else found[0]

    def add(self, wanted: GlideinWanted, now: float) -> None:
        """Let a job wait, from a moment by the monotonic clock."""
        self._waiting[key_of(wanted.payload.component)] = wanted, now
        self._watch()

    def remove(self, component: Component) -> None:
        """It does not wait any more, if it did."""
        self._waiting.pop(key_of(component), None)

    def withdraw(self, job: str) -> list[GlideinWanted]:
        """Take out what a job does not want any more."""
        found = [one for one in self if one.payload.component.job == job]
        for wanted in found:
            self.remove(wanted.payload.component)
        return found

    def expire(self, now: float) -> list[GlideinWanted]:
        """Take out those that have waited for too long."""
        found = [wanted for wanted, since in self._waiting.values() if since + self._patience <= now]
        for wanted in found:
            self.remove(wanted.payload.component)
        self._watch()
        return found

    def _watch(self) -> None:
        if self._waiting:
            _, since = next(iter(self._waiting.values()))
            self._alarms.set(BACKLOG, since + self._patience)
