"""What a set of computing elements must be as a whole, besides having the CPUs (SA-SEL-05)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broker_core.jdl.syntax.tree import Ad, Literal
from broker_core.matching.sets.group import Counts, Group, Ranks, groups_of
from broker_core.matching.sets.minimal import ranked
from broker_core.matching.sets.trace import SearchTrace

Positions = NDArray[np.int64]
ATTRIBUTE = "collectivecondition"
"""Lower-case name of the attribute that names the condition of a job."""
FREE_CPUS = "free-cpus"
"""Name of the built-in condition, which counts where a description names none."""
TRIALS_MAX = 2000
"""Sets looked at in one search: a condition that was plugged in is asked for each one by itself, and the
broker's event loop waits for all of them. Takes below 10 ms with quick conditions (benchmark `sets`)."""


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
    named: Positions,
    free: Counts,
    rank: Ranks,
    need: int,
    holds: Callable[[tuple[int, ...]], bool],
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
) -> list[Group]:
    """Sets with the CPUs for which `holds` is true, none of them with a set found before inside (SA-SEL-07).

    Fewer computing elements first, then the higher rank. Looks at `TRIALS_MAX` sets, as many of each size,
    those of higher ranked members first. `named`: all positions by name. Raises what `holds` raises.
    """
    trace.begin("collective", need, max_ces, max_groups, len(named))
    positions = ranked(named[free[named] > 0], rank).tolist()
    trace.suitable(positions, free, rank)
    found = _found(positions, free, rank, need, holds, max_ces, max_groups, trace)[:max_groups]
    trace.matched(found)
    trace.end(len(found))
    return found


def _found(
    positions: list[int],
    free: Counts,
    rank: Ranks,
    need: int,
    holds: Callable[[tuple[int, ...]], bool],
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
) -> list[Group]:
    """Sets of one size after those of the size before, until there are enough."""
    found: list[Group] = []
    complete: set[tuple[int, ...]] = set()
    left, limited = TRIALS_MAX, False
    for size in range(1, max_ces + 1):
        most = left // (max_ces + 1 - size)
        tried = _sets(positions, size, most + 1)
        limited |= len(tried) > most
        tried = tried[:most]
        left -= len(tried)
        enough = tried[free[tried].sum(axis=1) >= need]
        inside = {len(one) for one in complete} - {1}  # positions that do alone are left out below
        held = [
            members
            for members in map(tuple, enough.tolist())
            if not any(one in complete for part in inside for one in combinations(members, part))
            and holds(members)
        ]
        complete.update(held)
        if held:
            groups = groups_of(np.array(held, np.int64), free, rank)
            found += sorted(groups, key=lambda one: math.inf if one.rank is None else -one.rank)
        if len(found) >= max_groups:
            break
        if size == 1:
            positions = [one for one in positions if (one,) not in complete]
    if limited:
        trace.limit(TRIALS_MAX)
    return found


def _sets(positions: Sequence[int], size: int, most: int) -> Positions:
    """The first sets of so many positions, a row for each, in lexicographic order."""
    some = islice(combinations(positions, size), most)
    return np.fromiter(chain.from_iterable(some), np.int64).reshape(-1, size)
