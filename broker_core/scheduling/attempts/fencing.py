"""Attempts that must come to an end: canceled by their owner, or given up while they may still be alive."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass

from broker_core.jobs.record import JobRecord
from broker_core.scheduling.effects import Cancel, of_components
from broker_core.scheduling.state import SchedulerState

Key = tuple[str, int]
"""Job id and number of the attempt: a command reaches that attempt alone (reliability case 12)."""
_DOUBTS = 10_000
_LONGEST = 600.0


@dataclass(slots=True)
class Fence:
    """An attempt that its site was asked to end."""

    record: JobRecord
    due: float = 0.0
    """When it is asked again, monotonic."""
    asked: int = 0


class Fences:
    """Repeats every cancel until the attempt is said to be over (reliability cases 8 and 11).

    An attempt that was given up because its site did not answer may be there all the same: it is kept in
    doubt, and ended as soon as the site is in contact again or speaks of it. A restart forgets all this:
    sites then end by themselves what the broker does not name.
    """

    def __init__(self, state: SchedulerState) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._again = state.rules.cancel_again
        self.asked: dict[Key, Fence] = {}
        """Attempts that sites were asked to end; to be read only."""
        self._doubts: dict[Key, tuple[JobRecord, bool]] = {}

    def end(self, record: JobRecord) -> None:
        """Ask the sites of an attempt to end it, until it is over."""
        key = record.id, record.attempt
        self._doubts.pop(key, None)
        fence = self.asked[key] = Fence(record)
        self._ask(fence)

    def doubt(self, record: JobRecord, *, silent: bool) -> None:
        """An attempt was given up that its site may have: because it was silent, or by its word not."""
        self._doubts[record.id, record.attempt] = record, silent
        if len(self._doubts) > _DOUBTS:
            del self._doubts[next(iter(self._doubts))]

    def alive(self, key: Key) -> None:
        """A sign of life of an attempt that no job has any more: it is asked to end, at once."""
        if key in self.asked:
            self._ask(self.asked[key])
        elif key in self._doubts:
            self.end(self._doubts[key][0])

    def over(self, key: Key) -> None:
        """An attempt has ended; should its site hand it over or speak of it later, it is asked again."""
        fence = self.asked.pop(key, None)
        if fence is not None:
            self.doubt(fence.record, silent=False)

    def contact(self, ces: Container[str]) -> None:
        """A site is in contact again."""
        for fence in self.asked.values():
            if _there(fence.record, ces):
                fence.asked = 0
                self._ask(fence)
        for record, silent in list(self._doubts.values()):
            if silent and _there(record, ces):
                self.end(record)

    def again(self) -> None:
        """Repeat what no site has confirmed in time; one without contact is asked once it is back."""
        now = self._jobs.now.monotonic
        for fence in self.asked.values():
            if fence.due <= now:
                if self._cache.reachable(fence.record.ce.id):
                    self._ask(fence)
                else:
                    fence.due = now + _LONGEST

    def next(self) -> float:
        """When the next cancel has to be asked again; infinity: never."""
        return min((fence.due for fence in self.asked.values()), default=math.inf)

    def _ask(self, fence: Fence) -> None:
        pause = min(_LONGEST, self._again * 2.0 ** max(0, fence.asked - 1))
        fence.asked += 1
        fence.due = self._jobs.now.monotonic + pause
        self._jobs.effects.extend(of_components(Cancel, fence.record))


def _there(record: JobRecord, ces: Container[str]) -> bool:
    return any(one.ce.id in ces for one in record.placements)
