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


def calculation(free: Sequence[int], ranks: Sequence[float | None], rank: float | None) -> str:
    """How a group's rank was made, e.g. `(4 × 400 + 8 × 460) / 12 = 440`."""
    if rank is None:
        return "n/a: the Rank of a member is no number"
    if len(free) == 1:
        return f"{rank:.10g}"
    terms = " + ".join(f"{count} × {one:.10g}" for count, one in zip(free, ranks, strict=True))
    return f"({terms}) / {sum(free)} = {rank:.10g}"


def in_order(groups: list[Group], ids: Sequence[str], need: int) -> list[Group]:
    """Fewer computing elements first, then the higher rank, the smaller surplus, the names (CB-SCH-05a)."""
    return sorted(
        groups,
        key=lambda one: (
            len(one.members),
            math.inf if one.rank is None else -one.rank,
            one.free - need,
            sorted(ids[member] for member in one.members),
        ),
    )
