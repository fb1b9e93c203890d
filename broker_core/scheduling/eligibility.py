"""Where jobs of one demand can run: what matching says, kept until the facts are other ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import numpy as np
import numpy.typing as npt

from broker_core.jdl.description import JobDescription
from broker_core.matching.columnar.references import reads
from broker_core.matching.grouping import Grouping
from broker_core.matching.sets.group import Group
from broker_core.resources.pool import Counts, Exclusion, Pool
from broker_core.resources.record import Resource
from broker_core.resources.resource_table import ResourceTable
from broker_core.resources.values import ANSWERS, COUNTS
from broker_core.scheduling.demand import Demand

Rows = npt.NDArray[np.intp]
BETTER = 1 << 34
"""What one place in the order of closeness and rank is worth in a key; CPUs stay below."""
STATUS = frozenset({"gluecestatestatus", "glue2computingshareservingstate"})
SEARCH = 120
"""What the search for a set of resources counts for besides, in jobs: it takes milliseconds by itself."""
MOST = 5000
"""Demands that are remembered."""
_FEW = 32
_SHOWN = 2
_LOOKED = 100


class CandidateArrays(Protocol):
    """Resources that match, as aligned arrays in the order in which matching lists them."""

    @property
    def rows(self) -> npt.NDArray[np.integer]:
        """Rows of the pool."""
        ...

    @property
    def rank(self) -> npt.NDArray[np.float64]:
        """Rank of the job there; nan where it is no number."""
        ...

    @property
    def close_files(self) -> Counts:
        """Files of InputData with a replica close by."""
        ...


class RejectedResource(Protocol):
    """A resource that does not match, with the reason in words."""

    @property
    def resource(self) -> Resource:
        """The resource."""
        ...

    @property
    def reason(self) -> str:
        """Why not, in one sentence."""
        ...


class MatchAnswer(Protocol):
    """The answer of matchmaking, as far as the scheduler reads it."""

    @property
    def candidates(self) -> CandidateArrays:
        """Those that match."""
        ...

    @property
    def groups(self) -> Sequence[Group]:
        """Sets of them for a job over several computing elements."""
        ...

    @property
    def grouping(self) -> Grouping:
        """The same sets with the CPUs that the job would use at each member."""
        ...

    @property
    def rejected(self) -> Sequence[RejectedResource]:
        """All others."""
        ...


Match = Callable[[Demand, Pool, int], MatchAnswer]
"""The one matchmaking function, for a demand over a pool; the number is the seed of a fuzzy rank.

It must leave free CPUs of batch jobs for one computing element to the scheduler (`batch_capacity` total).
"""


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Resources for one demand, by the facts of now."""

    cpus: Counts
    """Processors asked for, as an array without axes: numpy takes longer to convert a number than to
    compare it with a hundred others."""
    rows: Rows
    """Those that match with all their CPUs free, by name; empty where the counts decide."""
    rank: npt.NDArray[np.float64]
    close_files: Counts
    key: Counts
    """The part of the best-fit key that is always the same: data closeness, then rank (CB-SCH-05a)."""
    flat: bool
    """All have the same key, 0."""
    now: int
    """The same rows as bits."""
    steady: bool
    """What matches does not depend on counts: it need not be matched again when they change."""
    ever: int
    """All rows that match if nothing runs there, as bits (CB-SCH-12); 0: nothing known can ever run it."""
    ever_rows: Rows
    """The same as numbers."""
    reason: str
    """Why none can."""


class WorkBudget:
    """What one part of a call of the reactor may still do, counted in jobs; a match over all resources is
    many, and what an earlier part of the same call asked for counts too."""

    def __init__(self, standings: EligibilityTable, most: int) -> None:
        self._eligibility = standings
        self._asked = standings.before
        self._searched = standings.searched_before
        self._left = most

    def more(self) -> bool:
        """True if one more job may be looked at."""
        self._left -= 1
        asked = self._eligibility.asked
        if asked != self._asked:
            self._left -= (asked - self._asked) * self._eligibility.cost
            self._left -= (self._eligibility.searched - self._searched) * SEARCH
            self._asked, self._searched = asked, self._eligibility.searched
        return self._left >= 0


class EligibilityTable:
    """Asks matchmaking once for each demand and state of the facts."""

    def __init__(self, board: ResourceTable, match: Match) -> None:
        self._board = board
        self._match = match
        self._facts = -1
        self._known: dict[str, Eligibility] = {}
        self._idle: Pool | None = None
        self.asked = 0
        """Number of matches over all resources made so far."""
        self.before = 0
        """The same when the call of the reactor began."""
        self.searched = self.searched_before = 0
        """How many of them were for a set of resources."""

    @property
    def cost(self) -> int:
        """What one match over all resources counts for, in jobs."""
        return 4 + self._board.pool.columns.size // 5

    def begin(self) -> None:
        """A call of the reactor begins, with its own budget of work."""
        self.before, self.searched_before = self.asked, self.searched

    def of(self, demand: Demand) -> Eligibility:
        """Where jobs of this demand can run."""
        if self._facts != self._board.facts or len(self._known) > MOST:
            self._facts = self._board.facts
            self._known.clear()
            self._idle = None
        known = self._known.get(demand.key)
        if known is None:
            known = self._known[demand.key] = self._made(demand)
        return known

    def forget(self) -> None:
        """Ask matchmaking anew: something that it reads besides the resources is another one."""
        self._facts = -1

    def matches(self, demand: Demand, pool: Pool, seed: int = 0) -> MatchAnswer:
        """Ask matchmaking."""
        self.asked += 1
        self.searched += demand.inter_cluster
        return self._match(demand, pool, seed)

    def any_set_without(self, demand: Demand, rows: Collection[int]) -> bool:
        """True if a set of resources that has none of these could ever run a job of this demand."""
        if not self.of(demand).ever:
            return False
        idle = self._all_idle()
        barred = dict(idle.barred) | dict.fromkeys(rows, Exclusion("policy", "excluded", now_only=False))
        return bool(self.matches(demand, replace(idle, barred=barred)).groups)

    def _all_idle(self) -> Pool:
        if self._idle is None:
            self._idle = self._board.pool.idle()
        return self._idle

    def _made(self, demand: Demand) -> Eligibility:
        pool = self._board.pool
        idle = self.matches(demand, self._all_idle())
        found = idle.candidates
        feasible = bool(len(found.rows)) and (not demand.inter_cluster or bool(idle.groups))
        ever = found.rows.astype(np.intp) if feasible else np.zeros(0, np.intp)
        names = states_read(demand.description)
        steady = names is not None and feasible
        if names is not None and feasible and (self._board.closed or not names <= STATUS):
            found = self.matches(demand, self._empty(pool)).candidates
        rows, rank, close = self._by_name(found) if steady else _nothing()
        key = _key(rank, close)
        return Eligibility(
            np.array(demand.description.cpus, np.int64),
            rows,
            rank,
            close,
            key,
            not key.any(),
            bits(rows),
            steady,
            bits(ever),
            ever,
            "" if feasible else _why_none(idle, demand),
        )

    def _empty(self, pool: Pool) -> Pool:
        """Everything free, but with the marks and response times that sites publish."""
        nothing = np.zeros_like(pool.total)
        return replace(pool, free=pool.total, running=nothing, waiting=nothing, own_waiting=None, barred={})

    def _by_name(self, found: CandidateArrays) -> tuple[Rows, npt.NDArray[np.float64], Counts]:
        """Candidates in the order of their names."""
        columns = self._board.pool.columns
        place = np.full(columns.size, -1, np.intp)
        place[found.rows] = np.arange(len(found.rows))
        order = columns.order(columns.size)
        at = place[order]
        at = at[at >= 0]
        return found.rows[at].astype(np.intp), found.rank[at], found.close_files[at]


def states_read(description: JobDescription) -> frozenset[str] | None:
    """What sites say of their state and Requirements or Rank read; None where matching is to be asked again
    for every job: a count that changes with each of them is read, or the world, or sets are built."""
    if description.ad is None:
        return frozenset()
    if "fuzzyrank" in description.ad.entries or "inter-cluster" in description.needs:
        return None
    read: set[str] = set()
    for name in ("requirements", "rank"):
        wanted = description.ad.get(name)
        if wanted is not None:
            found = reads(wanted, description.ad)
            if found.worldly or found.everything or found.by_chance:
                return None
            read |= found.names
    if any(COUNTS.get(one, "total") != "total" for one in read):
        return None
    return frozenset(read & ANSWERS.keys())


def bits(rows: npt.NDArray[np.integer]) -> int:
    """Rows as the bits of a number: what two demands share is one operation away."""
    if not len(rows):
        return 0
    flags = np.zeros(int(rows.max()) + 1, np.bool_)
    flags[rows] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def bits_of(rows: Collection[int]) -> int:
    """Rows as bits; the way that is quick for a few of them."""
    if len(rows) > _FEW:
        return bits(np.fromiter(rows, np.intp, len(rows)))
    found = 0
    for row in rows:
        found |= 1 << row
    return found


def _key(rank: npt.NDArray[np.float64], close: Counts) -> Counts:
    """Each combination of closeness and rank as a number, the best 0."""
    if not len(rank) or ((rank == rank[0]).all() and (close == close[0]).all()):
        return np.zeros(len(rank), np.int64)
    keys = np.stack((-close.astype(np.float64), np.where(np.isnan(rank), np.inf, -rank)))
    _, place = np.unique(keys, axis=1, return_inverse=True)
    return place.reshape(-1).astype(np.int64) * BETTER


def _nothing() -> tuple[Rows, npt.NDArray[np.float64], Counts]:
    return np.zeros(0, np.intp), np.zeros(0, np.float64), np.zeros(0, np.int64)


def _why_none(found: MatchAnswer, demand: Demand) -> str:
    if demand.inter_cluster and len(found.candidates.rows):
        if found.grouping.lacking:
            return f"of all resources that match, {found.grouping.lacking}"
        counted = "" if found.grouping.sites is None else ", of which one queue of each site counts,"
        return f"all resources that match{counted} do not have {demand.description.cpus} CPUs together"
    sites: dict[str, dict[str, None]] = {}
    for refusal in islice(found.rejected, _LOOKED):
        sites.setdefault(refusal.reason, {})[refusal.resource.site] = None
    if not sites:
        return "no site is known"
    told = [f"{_named(list(named))}: {reason}" for reason, named in islice(sites.items(), _SHOWN)]
    hidden = len(sites) > _SHOWN or len(found.rejected) > _LOOKED
    return "; ".join(told) + ("; others for other reasons" if hidden else "")


def _named(sites: list[str]) -> str:
    """`a`, `a and b`, or `a and 5 more`."""
    if len(sites) == 1:
        return sites[0]
    return f"{sites[0]} and " + (sites[1] if len(sites) == 2 else f"{len(sites) - 1} more")
