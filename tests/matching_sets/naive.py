"""The three modes written down as their sheets do, without any thought of speed."""

from __future__ import annotations

from itertools import combinations

from tests.matching_sets.pools import Pool

Group = tuple[int, ...]


def by_rank(pool: Pool) -> list[int]:
    some = [one for one in range(len(pool.ids)) if pool.free[one] > 0]
    return sorted(some, key=lambda one: (_lowered(pool.rank[one]), pool.ids[one]))


def _lowered(rank: float) -> float:
    return float("inf") if rank != rank else -rank


def _sum(pool: Pool, group: Group) -> int:
    return sum(int(pool.free[one]) for one in group)


def minimal(pool: Pool, need: int, max_ces: int, max_groups: int) -> list[Group]:
    groups: list[Group] = []
    for size in range(1, max_ces + 1):
        for chosen in combinations(by_rank(pool), size):
            if _sum(pool, chosen) >= need and not any(set(one) <= set(chosen) for one in groups):
                groups.append(chosen)
                if len(groups) == max_groups:
                    return groups
    return groups


def listing(pool: Pool, need: int) -> list[Group]:
    complete: list[Group] = []
    partial: list[Group] = []
    for ce in sorted((one for one in range(len(pool.ids)) if pool.free[one] > 0), key=pool.ids.__getitem__):
        if pool.free[ce] >= need:
            complete.append((ce,))
            continue
        completed = False
        after: list[Group] = []
        for group in partial:
            after.append(group)
            longer = (*group, ce)
            if _sum(pool, longer) >= need:
                completed = True
                if not any(set(one) <= set(longer) for one in complete):
                    complete.append(longer)
            else:
                after.append(longer)
        partial = after
        if not completed:
            partial.append((ce,))
    return sorted(complete, key=len)


def incremental(pool: Pool, need: int) -> list[Group]:
    matched: dict[int, list[Group]] = {}
    partial: list[Group] = []
    for ce in by_rank(pool):
        if pool.free[ce] >= need:
            matched.setdefault(1, []).append((ce,))
            continue
        for place, group in enumerate(partial):
            longer = (*group, ce)
            if _sum(pool, longer) >= need:
                matched.setdefault(len(longer), []).append(longer)
            else:
                partial[place] = longer
        partial.append((ce,))
    return [
        group
        for size in sorted(matched)
        for group in sorted(matched[size], key=lambda one: _lowered(rank(pool, one)))
    ]


def rank(pool: Pool, group: Group) -> float:
    """Weighted by all free CPUs; not a number if a member has no rank."""
    return sum(int(pool.free[one]) * float(pool.rank[one]) for one in group) / _sum(pool, group)
