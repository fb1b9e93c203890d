"""What the Scheduling Agent decided lately, in order (CB-UI-11)."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import NamedTuple


class Decision(NamedTuple):
    """One decision about one job, or about all (`round`)."""

    number: int
    """From 1, without gaps."""
    time: float
    """Seconds since the epoch."""
    job: str
    name: str
    what: str
    """chosen, next-choice, postponed, infeasible, re-matched, aborted, round or policy."""
    resources: tuple[str, ...] = ()
    reason: str = ""
    considered: int = 0
    """Resources known."""
    matching: int = 0
    """Those that could take the job then."""


class Decisions:
    """The last decisions; older ones are forgotten. What happened to a job is in its events for good."""

    def __init__(self, most: int) -> None:
        self._kept: deque[tuple[int, float, str, str, str, tuple[str, ...], str, int, int]]
        self._kept = deque(maxlen=most)
        """Fields of decisions, which few are ever asked for."""
        self.number = 0
        """Number of the last decision."""

    def add(
        self,
        time: float,
        job: str,
        name: str,
        what: str,
        resources: tuple[str, ...] = (),
        reason: str = "",
        considered: int = 0,
        matching: int = 0,
    ) -> None:
        """Note a decision."""
        self.number += 1
        self._kept.append((self.number, time, job, name, what, resources, reason, considered, matching))

    def after(self, number: int, limit: int) -> list[Decision]:
        """Up to `limit` decisions that follow one, oldest first."""
        first = self.number + 1 - len(self._kept)
        begin = max(0, number + 1 - first)
        return [Decision(*kept) for kept in islice(self._kept, begin, begin + limit)]
