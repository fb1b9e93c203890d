"""Small lists of computing elements, and groups by name."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from broker_core.matching.sets import Group, find

NO_RANK = float("nan")


@dataclass(frozen=True)
class Pool:
    """Computing elements with their free CPUs and ranks."""

    ids: tuple[str, ...]
    free: np.ndarray
    rank: np.ndarray

    def named(self, group: Group) -> tuple[str, ...]:
        return tuple(self.ids[one] for one in group.members)

    def find(self, need: int, mode: str = "minimal", **more: Any) -> list[Group]:
        return find(self.ids, self.free, self.rank, need, mode=mode, **more)

    def found(self, need: int, mode: str = "minimal", **more: Any) -> list[tuple[str, ...]]:
        """Groups by the names of their members, in order."""
        return [tuple(sorted(self.named(one))) for one in self.find(need, mode, **more)]


def pool(elements: Mapping[str, tuple[int, float]]) -> Pool:
    """Name to (free CPUs, rank)."""
    return of(
        tuple(elements), [free for free, _ in elements.values()], [rank for _, rank in elements.values()]
    )


def of(ids: Sequence[str], free: Sequence[int], rank: Sequence[float]) -> Pool:
    return Pool(tuple(ids), np.array(free, dtype=np.int64), np.array(rank, dtype=np.float64))


def of_need(**free: int) -> Pool:
    """Equal ranks but for the order of naming: earlier ones are better."""
    return of(tuple(free), list(free.values()), [float(len(free) - place) for place in range(len(free))])


def small(random_: random.Random, largest: int) -> Pool:
    """A few computing elements in any order of names, some without CPUs or ranks."""
    count = random_.randrange(largest + 1)
    ids = [f"ce{place}" for place in range(count)]
    random_.shuffle(ids)
    most = random_.choice((2, 4, 8, 15, 40))
    free = [random_.randrange(most + 1) for _ in ids]
    return of(ids, free, [random_.choice((0.0, 1.0, 2.0, 2.5, -3.0, NO_RANK)) for _ in ids])


CE001, CLUSTER, ZEUS = "ce001.grid.ucy.ac.cy:2119", "cluster.ui.sav.sk:2119", "zeus24.cyf-kr.edu.pl:2119"
CAGNODE, CE100, CE01 = "cagnode45.cs.tcd.ie:2119", "ce100.fzk.de:2119", "ce01.lip.pt:2119"
CG01, CGNODE = "cg01.ific.uv.es:2119", "cgnode00.di.uoa.gr:2119"

EIGHT = pool(
    {
        CE001: (10, 650),
        CLUSTER: (16, 630),
        ZEUS: (57, 400),
        CAGNODE: (4, 400),
        CE100: (8, 460),
        CE01: (2, 650),
        CG01: (2, 364),
        CGNODE: (2, 364),
    }
)
"""The computing elements of the published listing, for 10 CPUs (CB-SET-06, CB-SET-07)."""
