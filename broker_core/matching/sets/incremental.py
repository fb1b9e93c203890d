"""Mode `incremental`: groups as the first prototype built them (SA-SEL-03 to SA-SEL-06)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from broker_core.matching.sets.group import Counts, Group, Ranks, group_of
from broker_core.matching.sets.minimal import by_rank
from broker_core.matching.sets.trace import Trace


def incremental(
    ids: Sequence[str], free: Counts, rank: Ranks, need: int, max_ces: int, max_groups: int, trace: Trace
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
            joined = [
                (one, group_of((*one.members, place), free, rank))
                for one in partials
                if len(one.members) < max_ces
            ]
            new = [longer for _, longer in joined if longer.free >= need]
            kept = [one if longer.free >= need else longer for one, longer in joined]
            kept.append(alone)
            trace.partial(kept)
        new = new[: max_groups - len(found)]
        trace.matched(new)
        found += new
        partials = kept
        if len(found) == max_groups:
            break
    return sorted(found, key=lambda one: (len(one.members), math.inf if one.rank is None else -one.rank))
