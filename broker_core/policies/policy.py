"""What a policy is: one function from choices to the order in which they are tried (CB-SCH-03).

    def order(choices: Choices, request: Request) -> Sequence[int]: ...

It returns positions in the arrays of `choices`. It may leave some out, and cannot add any. Choices come in
the order in which matching lists them, which ends with the name, so that a stable sort needs no names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from broker_core.matching.sets.group import Group

Counts = npt.NDArray[np.int64]


class PolicyCandidates(Protocol):
    """The part of matching's answer that policies look at, as aligned arrays."""

    @property
    def rows(self) -> npt.NDArray[np.integer]:
        """Places in the list of all known resources."""
        ...

    @property
    def free(self) -> Counts:
        """Free CPUs."""
        ...

    @property
    def total(self) -> Counts:
        """CPUs in all."""
        ...

    @property
    def waiting(self) -> Counts:
        """Jobs in the queue."""
        ...

    @property
    def rank(self) -> npt.NDArray[np.float64]:
        """The job's Rank, for FuzzyRank as drawn by lot; nan where it is no number."""
        ...

    @property
    def close_files(self) -> Counts:
        """Files of InputData with a replica close by."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """Names of the computing elements."""
        ...


Candidates = PolicyCandidates
"""Name of version 0.1.0, for policies that were written for it; goes with the next release."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the job asks for, as far as an order may depend on it."""

    cpus: int
    max_site_queue: int = 0
    """A queue longer than this comes last (CB-SCH-05a)."""
    interactive: bool = False
    inter_cluster: bool = False
    """The choices are sets of computing elements; a set may have one member."""
    seed: int = 0
    """For policies that draw lots: the same for the same event."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Computing elements or sets of them; the arrays cannot be written to."""

    free: Counts
    """Free CPUs; of a set: of all members."""
    total: Counts
    waiting: Counts
    """Jobs in the queue; of a set: in the longest queue of a member."""
    rank: npt.NDArray[np.float64]
    """Higher is better, nan: none; of a set: weighted by free CPUs (CB-SET-05)."""
    close_files: Counts
    """Files of InputData with a replica close by; of a set: 0."""
    sizes: Counts
    """Computing elements of each choice."""
    listed: Counts
    """Place in the list of all known resources; of a set: of its first member."""
    ces: Sequence[tuple[str, ...]]
    """The computing elements of each choice."""

    def __post_init__(self) -> None:
        for name in ("free", "total", "waiting", "rank", "close_files", "sizes", "listed"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.free)


Policy = Callable[[Choices, Request], Sequence[int] | npt.NDArray[np.integer]]
"""Positions of the choices in the order in which they are tried."""


def single(candidates: PolicyCandidates) -> Choices:
    """Each candidate as a choice of its own."""
    return Choices(
        candidates.free,
        candidates.total,
        candidates.waiting,
        candidates.rank,
        candidates.close_files,
        np.ones(len(candidates.free), np.int64),
        candidates.rows.astype(np.int64),
        _Alone(candidates.ids),
    )


def sets(candidates: PolicyCandidates, groups: Sequence[Group]) -> Choices:
    """Each group of candidates as a choice; members are positions among the candidates."""
    sizes = np.fromiter((len(one.members) for one in groups), np.int64, len(groups))
    members = np.fromiter((place for one in groups for place in one.members), np.int64, int(sizes.sum()))
    starts, ids = np.cumsum(sizes) - sizes, candidates.ids
    return Choices(
        _folded(np.add, candidates.free, members, starts),
        _folded(np.add, candidates.total, members, starts),
        _folded(np.maximum, candidates.waiting, members, starts),
        np.array([np.nan if one.rank is None else one.rank for one in groups], np.float64),
        np.zeros(len(groups), np.int64),
        sizes,
        _folded(np.minimum, candidates.rows, members, starts),
        [tuple([ids[place] for place in one.members]) for one in groups],
    )


def _folded(how: np.ufunc, counts: npt.NDArray[np.integer], members: Counts, starts: Counts) -> Counts:
    if not len(starts):
        return starts
    found: Counts = how.reduceat(counts[members], starts).astype(np.int64)
    return found


class _Alone(Sequence[tuple[str, ...]]):
    """Names of single computing elements, each made a set of one when it is asked for."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: int) -> tuple[str, ...]:  # type: ignore[override]
        return (self._ids[place],)
