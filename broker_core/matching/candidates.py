"""The resources that match, as arrays; records are made when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A resource that matches."""

    resource: Resource
    rank: float | None
    """The job's Rank there; 0.0 without one, None where it is no number (CB-MM-04)."""


class CandidateNames(Sequence[str]):
    """Computing elements by position."""

    __slots__ = ("_ces", "_rows")

    def __init__(self, ces: list[str], rows: Rows) -> None:
        self._ces = ces
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, position: int) -> str:  # type: ignore[override]
        return self._ces[int(self._rows[position])]


class Candidates(Sequence[Candidate]):
    """Candidates in order. The arrays are as they were when matched, whatever became of the pool."""

    __slots__ = ("_pool", "close_files", "free", "plain", "rank", "rows", "total", "waiting")

    def __init__(
        self,
        pool: Pool,
        rows: Rows,
        free: Counts,
        total: Counts,
        waiting: Counts,
        rank: npt.NDArray[np.float64],
        close_files: Counts,
        plain: npt.NDArray[np.float64],
    ) -> None:
        self._pool = pool
        self.rows = rows
        """Rows of the pool."""
        self.free = free
        self.total = total
        self.waiting = waiting
        """Jobs in the queue, as far as they count for the longest queue."""
        self.rank = rank
        """The job's Rank as it counts for the order: by lot for FuzzyRank; nan where it is no number."""
        self.plain = plain
        """The job's Rank."""
        self.close_files = close_files
        """Files of InputData with a replica close by."""

    @property
    def ids(self) -> CandidateNames:
        """Computing elements."""
        return CandidateNames(self._pool.columns.ces, self.rows)

    def taken(self, positions: Sequence[int] | Rows) -> Candidates:
        """Those at some positions, in that order."""
        at = np.asarray(positions, np.intp)
        return Candidates(
            self._pool,
            self.rows[at],
            self.free[at],
            self.total[at],
            self.waiting[at],
            self.rank[at],
            self.close_files[at],
            self.plain[at],
        )

    def rank_of(self, position: int) -> float | None:
        """The job's Rank at one of them; None where it is no number."""
        rank = float(self.plain[position])
        return rank if rank == rank else None

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, position: int) -> Candidate: ...

    @overload
    def __getitem__(self, position: slice) -> Candidates: ...

    def __getitem__(self, position: int | slice) -> Candidate | Candidates:
        if isinstance(position, slice):
            return self.taken(range(len(self))[position])
        return Candidate(self._pool.resource(int(self.rows[position])), self.rank_of(position))
