"""A workload trace in memory: one list for each column, one entry for each job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class WorkloadTrace:
    """Jobs in the order of their submission; lists are not changed once the trace is made."""

    name: str
    submit: list[float]
    """Seconds since the first submission."""
    run: list[float]
    """Seconds on one processor of speed 1; every job's are known."""
    cpus: list[int]
    limit: list[float]
    """Longest time asked for, in seconds; -1 where none was."""
    partition: list[int]
    """Where the job ran; -1 where that is unknown."""
    waited: list[float]
    """Seconds waited when the trace was taken; -1 where that is unknown."""
    begin: float = 0.0
    """The first submission, in seconds since the epoch; 0 if the trace does not tell."""
    processors: int = 0
    """Processors of the machine; 0 if the trace does not tell."""
    partitions: Mapping[int, str] = field(default_factory=dict)
    """Names of partitions, where the trace gives any."""
    header: Mapping[str, str] = field(default_factory=dict)
    """Other facts of the header: `Computer`, `Acknowledge`, ..."""
    left_out: int = 0
    """Jobs without a run time or a number of processors, which cannot be replayed."""

    def __len__(self) -> int:
        return len(self.submit)

    def first(self, jobs: int) -> WorkloadTrace:
        """The first jobs alone; the facts about the machine stay."""
        columns = ("submit", "run", "cpus", "limit", "partition", "waited")
        return replace(self, **{name: getattr(self, name)[:jobs] for name in columns})
