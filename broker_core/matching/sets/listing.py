"""Mode `listing`: groups as in the published worked example (CB-SET-06 to CB-SET-09)."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.matching.sets.group import Counts, Group, Ranks, Sites, apart, group_of
from broker_core.matching.sets.minimal import by_name
from broker_core.matching.sets.trace import SearchTrace

TRIALS_MAX = 200_000
"""Computing elements joined to partial groups in one search: each could double the number of these."""

Partial = tuple[tuple[int, ...], int]
"""Members and their free CPUs."""


def listing(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
    sites: Sites | None = None,
) -> list[Group]:
    """Computing elements are taken by name; each extends copies of the partial groups met so far, and one
    that completes a group begins none of its own. Ordered by size, inside a size as they were found.

    After too many trials only single computing elements are still looked at."""
    places = by_name(ids, free)
    trace.suitable(places, free, rank)
    found: list[Group] = []
    partials: list[Partial] = []
    left = TRIALS_MAX
    for place in places:
        cpus = int(free[place])
        complete: list[tuple[int, ...]] = []
        if cpus >= need:
            complete = [(place,)]
        elif left >= 0:
            left -= len(partials)
            complete, partials, begun = _joined(place, cpus, partials, need, max_ces, sites)
            trace.partial(group_of(members, free, rank) for members in begun)
            if left < 0:
                trace.limit(TRIALS_MAX)
        new = [group_of(members, free, rank) for members in complete[: max_groups - len(found)]]
        trace.matched(new)
        found += new
        if len(found) == max_groups:
            break
    return sorted(found, key=lambda one: len(one.members))


def _joined(
    place: int, cpus: int, partials: Sequence[Partial], need: int, max_ces: int, sites: Sites | None
) -> tuple[list[tuple[int, ...]], list[Partial], list[tuple[int, ...]]]:
    """What one computing element makes of the partial groups: groups it completes, all partial groups from
    now on, and the new ones among these."""
    complete: list[tuple[int, ...]] = []
    after: list[Partial] = []
    completes = False
    for members, sum_ in partials:
        after.append((members, sum_))
        if not apart(sites, members, place):
            continue
        joined = (*members, place)
        if sum_ + cpus >= need:
            completes = True
            # A partial group contains no complete one: a smaller one inside must be of this round.
            if not any(set(one) <= set(joined) for one in complete):
                complete.append(joined)
        elif len(joined) < max_ces:
            after.append((joined, sum_ + cpus))
    if not completes and max_ces > 1:
        after.append(((place,), cpus))
    return complete, after, [members for members, _ in after if members[-1] == place]
