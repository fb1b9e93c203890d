"""One set of computing elements, its rank, and how the rank was made (CB-SET-05)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
"""CPUs by position."""
Ranks = NDArray[np.float64]
"""The job's Rank by position; nan where it is no number (CB-MM-04)."""
Sites = NDArray[np.int64]
"""A number for the site of each position. Queues of one site are queues for the same processors, which would
be counted twice: no group has two of them."""


@dataclass(frozen=True, slots=True)
class Group:
    """A set of computing elements that together have the CPUs wanted."""

    members: tuple[int, ...]
    """Positions in the arrays that were searched, in the order in which the mode joined them."""
    rank: float | None
    """The members' ranks weighted by all their free CPUs; None if a member has none."""
    free: int
    """Free CPUs of all members together."""


def group_of(members: Sequence[int], free: Counts, rank: Ranks) -> Group:
    """The group of these members with its weighted rank (CB-SET-05)."""
    if len(members) == 1:
        only = float(rank[members[0]])
        return Group(tuple(members), None if math.isnan(only) else only, int(free[members[0]]))
    total = sum(shares := free[list(members)].tolist())
    weighted = sum(share * one for share, one in zip(shares, rank[list(members)].tolist(), strict=True))
    mean = weighted / total if total else math.nan
    return Group(tuple(members), None if math.isnan(mean) else mean, total)


def groups_of(members: NDArray[np.int64], free: Counts, rank: Ranks) -> list[Group]:
    """`group_of` for each row."""
    cpus = free[members]
    total = cpus.sum(axis=1)
    with np.errstate(invalid="ignore"):  # ranks without bounds can cancel out, and then make no number
        mean = rank[members[:, 0]] if members.shape[1] == 1 else (cpus * rank[members]).sum(axis=1) / total
    rows = zip(members.tolist(), mean.tolist(), total.tolist(), strict=True)
    return [Group(tuple(row), one if one == one else None, sum_) for row, one, sum_ in rows]


def elsewhere(sites: Sites | None, members: Sequence[int]) -> NDArray[np.bool_] | None:
    """Which positions are at other sites than the members; None: all of them."""
    if sites is None or not members:
        return None
    others: NDArray[np.bool_] = sites != sites[members[0]]
    for member in members[1:]:
        others &= sites != sites[member]
    return others


def apart(sites: Sites | None, members: Sequence[int], position: int) -> bool:
    """True if a position is at another site than all members."""
    return sites is None or not any(sites[one] == sites[position] for one in members)


def largest_of_each(sites: Sites, free: Counts) -> NDArray[np.int64]:
    """For each site the position with most free CPUs; those with most of them first."""
    order = np.argsort(-free, kind="stable")
    _, first = np.unique(sites[order], return_index=True)
    largest: NDArray[np.int64] = order[np.sort(first)]
    return largest


def calculation(free: Sequence[int], ranks: Sequence[float | None], rank: float | None) -> str:
    """How a group's rank was made, e.g. `(4 × 400 + 8 × 460) / 12 = 440`."""
    if rank is None:
        return "n/a: the Rank of a member is no number"
    if len(free) == 1:
        return f"{rank:.10g}"
    terms = " + ".join(f"{count} × {one:.10g}" for count, one in zip(free, ranks, strict=True))
    return f"({terms}) / {sum(free)} = {rank:.10g}"
