"""CPUs that were given to jobs of this broker, from the choice until the attempt is over (CB-CACHE-05)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class Commitment:
    """CPUs of one computing element that a job has."""

    ce: str
    cpus: int
    since: float
    """When it was made, monotonic."""
    runs: bool = False
    """The application has started there; until then the job waits."""


class Commitments:
    """All commitments by job and by computing element."""

    def __init__(self) -> None:
        self._by_job: dict[str, list[Commitment]] = {}
        self._by_ce: dict[str, dict[str, Commitment]] = {}

    def add(self, ce: str, job: str, cpus: int, now: float) -> None:
        """Give CPUs to a job."""
        made = Commitment(ce, cpus, now)
        self._by_job.setdefault(job, []).append(made)
        self._by_ce.setdefault(ce, {})[job] = made

    def end(self, job: str) -> list[Commitment]:
        """Take back everything that a job has."""
        ended = self._by_job.pop(job, [])
        for one in ended:
            del self._by_ce[one.ce][job]
        return ended

    def of_job(self, job: str) -> list[Commitment]:
        """What a job has."""
        return self._by_job.get(job, [])

    def at(self, ce: str) -> Mapping[str, Commitment]:
        """Job to what it has of a computing element."""
        return self._by_ce.get(ce, {})

    def made_before(self, ce: str, moment: float) -> int:
        """CPUs of a computing element given out up to a moment."""
        return sum(one.cpus for one in self.at(ce).values() if one.since <= moment)
