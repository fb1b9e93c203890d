"""Sets of computing elements for one job over several of them (CB-SET-01, SA-SEL-01)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from broker_core.matching.sets.best import best_group
from broker_core.matching.sets.group import Counts, Group, Ranks, Sites, apart, group_of
from broker_core.matching.sets.listing import listing
from broker_core.matching.sets.minimal import by_rank, minimal
from broker_core.matching.sets.trace import SearchTrace

MAX_CES = 4
"""Computing elements in one set, at most (CB-SET-04)."""
MAX_GROUPS = 1000
"""Groups looked for, at most (CB-SET-09)."""


def incremental(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
    sites: Sites | None = None,
) -> list[Group]:
    """Computing elements are taken by rank; each is added to every partial group in place, so that a group
    may get members that it could do without (SA-SEL-08). Ordered by size, inside a size by rank."""
    places = by_rank(ids, free, rank).tolist()
    trace.suitable(places, free, rank)
    found: list[Group] = []
    partials: list[Group] = []
    for place in places:
        alone = group_of((place,), free, rank)
        if alone.free >= need:
            new, kept = [alone], partials
        else:
            open_ = [one for one in partials if len(one.members) < max_ces]
            longer = [
                group_of((*one.members, place), free, rank) if apart(sites, one.members, place) else one
                for one in open_
            ]
            new = [one for one in longer if one.free >= need]
            kept = [one if more.free >= need else more for one, more in zip(open_, longer, strict=True)]
            kept.append(alone)
            trace.partial(kept)
        new = new[: max_groups - len(found)]
        trace.matched(new)
        found += new
        partials = kept
        if len(found) == max_groups:
            break
    return sorted(found, key=lambda one: (len(one.members), math.inf if one.rank is None else -one.rank))


MODES = {"minimal": minimal, "listing": listing, "incremental": incremental}
"""Ways of building groups by name (CB-SET-09); the first is the default."""


def find(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    *,
    mode: str = "minimal",
    max_ces: int = MAX_CES,
    max_groups: int = MAX_GROUPS,
    best: bool = False,
    trace: SearchTrace | None = None,
    sites: Sites | None = None,
) -> list[Group]:
    """Groups of suitable computing elements with `need` free CPUs together, in the order to be tried.

    `ids`, `free` (CPUs that one job may use there) and `rank` (nan: none) are aligned; members of the groups
    are positions in them. `minimal` finds every smallest group and orders by size, rank, surplus and names;
    `listing` and `incremental` build and order groups as the published descriptions do. A `trace` gets the
    steps. An unknown mode is a KeyError.

    `minimal` stops at `max_groups`, in the order of the members' ranks. With `best` the list begins with the
    best-ranked of the smallest groups even so, which then takes the place of the last one.

    Members of a group are at different sites, which stand in `sites`; None: no two are at one.
    """
    told = trace if trace is not None else SearchTrace(kept=False)
    told.ids = ids
    told.begin(mode, need, max_ces, max_groups, len(ids))
    groups = MODES[mode](ids, free, rank, need, max_ces, max_groups, told, sites) if max_groups > 0 else []
    if best and mode == "minimal" and len(groups) == max_groups:
        groups = _with_best(groups, ids, free, rank, need, told, sites)
    told.end(len(groups))
    return groups


def _with_best(
    groups: list[Group],
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    trace: SearchTrace,
    sites: Sites | None,
) -> list[Group]:
    """The list of groups, cut, with the best of the smallest at its head."""
    size = len(groups[0].members) if groups else 0
    if size < 2 or len(groups[-1].members) > size:
        return groups
    found = best_group(ids, free, rank, need, size, groups[0].rank, sites)
    if found is None:
        return groups
    trace.matched([found])
    return [found, *groups[:-1]]
