"""Sets of computing elements for one job over several of them (CB-SET-01, SA-SEL-01)."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.matching.sets.group import Counts, Group, Ranks
from broker_core.matching.sets.incremental import incremental
from broker_core.matching.sets.listing import listing
from broker_core.matching.sets.minimal import minimal
from broker_core.matching.sets.trace import Trace

MODES = {"minimal": minimal, "listing": listing, "incremental": incremental}
"""Ways of building groups by name (CB-SET-09); the first is the default."""
MAX_CES = 4
"""Computing elements in one set, at most (CB-SET-04)."""
MAX_GROUPS = 1000
"""Groups looked for, at most (CB-SET-09)."""


def find(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    *,
    mode: str = "minimal",
    max_ces: int = MAX_CES,
    max_groups: int = MAX_GROUPS,
    trace: Trace | None = None,
) -> list[Group]:
    """Groups of suitable computing elements with `need` free CPUs together, in the order to be tried.

    `ids`, `free` (CPUs that one job may use there) and `rank` (nan: none) are aligned; members of the groups
    are positions in them. `minimal` finds every smallest group and orders by size, rank, surplus and names;
    `listing` and `incremental` build and order groups as the published descriptions do. A `trace` gets the
    steps. An unknown mode is a KeyError.
    """
    told = trace if trace is not None else Trace(kept=False)
    told.ids = ids
    told.begin(mode, need, max_ces, max_groups, len(ids))
    groups = MODES[mode](ids, free, rank, need, max_ces, max_groups, told) if max_groups > 0 else []
    told.end(len(groups))
    return groups
