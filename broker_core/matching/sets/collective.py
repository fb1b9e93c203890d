"""What a set of computing elements must be as a whole, besides having the CPUs (SA-SEL-05)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from broker_core.jdl.syntax.tree import Ad, Literal
from broker_core.matching.sets.group import Counts, Group, Ranks, group_of
from broker_core.matching.sets.minimal import by_rank
from broker_core.matching.sets.trace import SearchTrace

ATTRIBUTE = "collectivecondition"
"""Lower-case name of the attribute that names the condition of a job."""
FREE_CPUS = "free-cpus"
"""Name of the built-in condition, which counts where a description names none."""
TRIALS_MAX = 5000
"""Sets looked at in one search: a condition that was plugged in is asked for each one by itself."""


@dataclass(frozen=True, slots=True)
class SetMember:
    """A computing element of a set, as a condition sees it."""

    ce: str
    """Its id."""
    site: str
    free_cpus: int
    """CPUs that the job may use there now."""
    rank: float
    """The job's Rank there; nan where it is no number."""
    attributes: Mapping[str, Any]
    """What is published, by lower-case GLUE name."""


CollectiveCondition = Callable[[Sequence[SetMember], int], bool]
"""May these members together take a job of so many CPUs? They have the CPUs. Pure and quick."""


def free_cpus(members: Sequence[SetMember], wanted: int) -> bool:
    """The free CPUs of all together are those wanted, or more."""
    return sum(one.free_cpus for one in members) >= wanted


def condition_of(ad: Ad | None) -> str:
    """Name of the condition that a description asks for."""
    node = ad.get(ATTRIBUTE) if ad is not None else None
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else FREE_CPUS


def fulfilling(
    ids: Sequence[str],
    free: Counts,
    rank: Ranks,
    need: int,
    holds: Callable[[tuple[int, ...]], bool],
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
) -> list[Group]:
    """Sets with the CPUs for which `holds` is true, none of them with a set found before inside (SA-SEL-07).

    Fewer computing elements first, then the higher rank. Looks at `TRIALS_MAX` sets, those of higher ranked
    members first. Raises what `holds` raises.
    """
    trace.begin("collective", need, max_ces, max_groups, len(ids))
    positions = by_rank(ids, free, rank).tolist()
    trace.suitable(positions, free, rank)
    found = _found(positions, free, rank, need, holds, max_ces, trace)
    found.sort(key=lambda one: (len(one.members), math.inf if one.rank is None else -one.rank))
    trace.matched(found[:max_groups])
    trace.end(len(found[:max_groups]))
    return found[:max_groups]


def _found(
    positions: Sequence[int],
    free: Counts,
    rank: Ranks,
    need: int,
    holds: Callable[[tuple[int, ...]], bool],
    max_ces: int,
    trace: SearchTrace,
) -> list[Group]:
    found: list[Group] = []
    complete: set[tuple[int, ...]] = set()
    left = TRIALS_MAX
    for size in range(1, max_ces + 1):
        for members in combinations(positions, size):
            left -= 1
            if left < 0:
                trace.limit(TRIALS_MAX)
                return found
            if any(one in complete for part in range(1, size) for one in combinations(members, part)):
                continue
            if int(free[list(members)].sum()) >= need and holds(members):
                complete.add(members)
                found.append(group_of(members, free, rank))
    return found
