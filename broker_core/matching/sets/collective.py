"""What a set of computing elements must be as a whole, besides having the CPUs (SA-SEL-05)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broker_core.jdl.syntax.tree import Ad, Literal
from broker_core.matching.sets.group import Counts, Group, Ranks, Sites, elsewhere, groups_of
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
    sites: Sites | None = None,
) -> list[Group]:
    """Sets with the CPUs for which `holds` is true, none of them with a set found before inside (SA-SEL-07).

    Fewer computing elements first, then the higher rank. Looks at `TRIALS_MAX` sets, as many of each size,
    those of higher ranked members first. `named`: all positions by name; `sites`: see `find`. Raises what
    `holds` raises.
    """
    trace.begin("collective", need, max_ces, max_groups, len(named))
    positions = ranked(named[free[named] > 0], rank)
    trace.suitable(positions.tolist(), free, rank)
    found = _found(positions, free, rank, need, holds, max_ces, max_groups, trace, sites)[:max_groups]
    trace.matched(found)
    trace.end(len(found))
    return found


def _found(
    positions: Positions,
    free: Counts,
    rank: Ranks,
    need: int,
    holds: Callable[[tuple[int, ...]], bool],
    max_ces: int,
    max_groups: int,
    trace: SearchTrace,
    sites: Sites | None,
) -> list[Group]:
    """Sets of one size after those of the size before, until there are enough."""
    found: list[Group] = []
    complete: set[tuple[int, ...]] = set()
    left, limited, largest = TRIALS_MAX, False, max_ces
    for size in range(1, max_ces + 1):
        most = left // (max_ces + 1 - size)
        tried = _sets(positions, size, most + 1, sites)
        limited |= len(tried) > most
        tried = tried[:most]
        left -= len(tried)
        enough = tried[free[tried].sum(axis=1) >= need]
        held = _holding(enough, complete, holds)
        complete.update(held)
        if held:
            groups = groups_of(np.array(held, np.int64), free, rank)
            found += sorted(groups, key=lambda one: math.inf if one.rank is None else -one.rank)
        if len(found) >= max_groups:
            break
        if size == 1:
            alone = np.array([one for (one,) in complete], np.int64)
            positions = positions[~np.isin(positions, alone)] if len(alone) else positions
            if sites is not None:
                largest = len(np.unique(sites[positions]))
        if size >= largest:
            break
    if limited:
        trace.limit(TRIALS_MAX)
    return found


def _holding(
    sets: Positions, complete: set[tuple[int, ...]], holds: Callable[[tuple[int, ...]], bool]
) -> list[tuple[int, ...]]:
    """Those for which `holds` is true, without a complete one inside; none has a position that does alone."""
    inside = {len(one) for one in complete} - {1}
    return [
        members
        for members in map(tuple, sets.tolist())
        if not any(one in complete for part in inside for one in combinations(members, part))
        and holds(members)
    ]


def _sets(positions: Positions, size: int, most: int, sites: Sites | None) -> Positions:
    """The first sets of so many positions, a row for each, in lexicographic order; after very many beginnings
    that lead to none, no more are looked at."""
    if sites is None or size == 1:
        some = islice(combinations(positions.tolist(), size), most)
        return np.fromiter(chain.from_iterable(some), np.int64).reshape(-1, size)
    at = sites[positions]
    rows = [np.zeros((0, size), np.int64)]
    left = most
    for begun in islice(_begun(at, (), size - 1), TRIALS_MAX):
        last = _behind(at, begun)[:left]
        rows.append(np.column_stack((np.tile(np.array(begun, np.int64), (len(last), 1)), last)))
        left -= len(last)
        if not left:
            break
    return positions[np.concatenate(rows)]


def _begun(at: Sites, members: tuple[int, ...], missing: int) -> Iterator[tuple[int, ...]]:
    """Beginnings of sets, in lexicographic order."""
    if not missing:
        yield members
        return
    for one in _behind(at, members).tolist():
        yield from _begun(at, (*members, one), missing - 1)


def _behind(at: Sites, members: tuple[int, ...]) -> Positions:
    """What stands behind the members and is at other sites."""
    others = elsewhere(at, members)
    if others is None:
        return np.arange(len(at))
    behind: Positions = np.flatnonzero(others[members[-1] + 1 :]) + members[-1] + 1
    return behind
