"""Where a job goes now: what matches and has room, in the order of the policy (CB-SCH-01)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from broker_core.jobs.immutable import immutable
from broker_core.matching.ordering import BUSY, load
from broker_core.policies.built_in import best_fit
from broker_core.policies.guarded import arranged
from broker_core.policies.policy import Choices, Policy, Request, sets, single
from broker_core.resources.pool import Counts, Pool
from broker_core.scheduling.demand import Demand
from broker_core.scheduling.eligibility import Eligibility, Rows
from broker_core.scheduling.parts import parts_of, seen_by
from broker_core.scheduling.queue.pending_queue import ALL
from broker_core.scheduling.slots.interactive import InteractiveCapacity, InteractiveMode
from broker_core.scheduling.slots.interactive import choose as choose_interactive
from broker_core.scheduling.state import SchedulerState

_SHORT, _SHORT_AHEAD = 1.0, 4
"""Seconds from the choice of a job to its end below which more may wait at its resource; how many times."""
_OVERLOADED = 1 << 60
_NEVER = np.array(np.iinfo(np.int64).max)
_NONE = np.array(0)
Flags = npt.NDArray[np.bool_]


@immutable
class Selection:
    """Where a job goes: one computing element, or a set."""

    ces: tuple[str, ...]
    """One for each component: several may be at one of them, as the description fixes it, or in its slots."""
    cpus: tuple[int, ...]
    """Processors at each of them."""
    of: int
    """Choices that there were."""


@dataclass(frozen=True, slots=True)
class Able:
    """Resources that can take a job now, as policies look at them."""

    pool: Pool
    rows: Rows
    rank: npt.NDArray[np.float64]
    close_files: Counts

    @property
    def free(self) -> Counts:
        """Free CPUs."""
        return self.pool.free[self.rows]

    @property
    def total(self) -> Counts:
        """CPUs in all."""
        return self.pool.total[self.rows]

    @property
    def waiting(self) -> Counts:
        """Jobs in the queue, as far as they count for the longest one."""
        queue = self.pool.waiting if self.pool.own_waiting is None else self.pool.own_waiting
        return queue[self.rows]

    @property
    def ids(self) -> Sequence[str]:
        """Computing elements."""
        ces = self.pool.columns.ces
        return [ces[row] for row in self.rows.tolist()]


class Selector:
    """Chooses by matching, room and policy; locks nothing and commits nothing."""

    def __init__(self, state: SchedulerState) -> None:
        self._cache = state.cache
        self._board = state.cache.board
        self._eligibility = state.eligibility
        self._rules = state.rules
        self.order: Policy = best_fit
        """The policy for the order of choices."""
        self.problem = ""
        """Why the built-in policy had to step in since this was last emptied; empty if it had not to."""
        self.failed = ""
        """Why it had to step in last time; empty if the policy in force did well."""

    def use(self, order: Policy) -> None:
        """Order choices by another policy from now on."""
        if order is not self.order:
            self.order, self.failed = order, ""

    def pool(self, demand: Demand, now: float) -> Pool:
        """The pool as a job sees it: batch jobs come into the machines of idle glideins, interactive ones
        into their slots alone."""
        pool = self._cache.pool(now)
        if not (demand.description.interactive and self._board.held):
            return pool
        return replace(pool, free=self._board.bare)

    def choose(
        self, demand: Demand, excluded: Collection[str], now: float, fresh: int = ALL, seed: int = 0
    ) -> Selection | None:
        """The best place for a job of a demand; None if nothing can take it now.

        `fresh`: rows, as bits, outside of which nothing is to be found.
        """
        pool = self.pool(demand, now)
        eligible = self._eligibility.of(demand)
        if not eligible.ever:
            return None
        if demand.inter_cluster:
            return self._choose_set(demand, excluded, pool, seed)
        seen = seen_by(demand.description, pool, self._board, self._rules.interactive_mode, excluded)
        if seen is not pool:
            return self._choose_parts(demand, eligible, excluded, (pool, seen), seed)
        if eligible.steady and self.order is best_fit:
            return self._fit(demand, eligible, excluded, pool, fresh)
        able = self._able(demand, eligible, excluded, pool, seed)
        if not len(able.rows):
            return None
        order = self._arranged(single(able), demand, seed)
        return _alone(pool, demand, int(able.rows[order[0]]), len(order)) if order else None

    def matching(self, demand: Demand, excluded: Collection[str], now: float) -> int:
        """Number of choices that a job of this demand has now."""
        pool = self.pool(demand, now)
        eligible = self._eligibility.of(demand)
        if not eligible.ever:
            return 0
        if demand.inter_cluster:
            return len(self._eligibility.matches(demand, pool).groups)
        return len(self._able(demand, eligible, excluded, pool, 0).rows)

    def has_others(self, demand: Demand, excluded: Collection[str]) -> bool:
        """True if some resource, or set of them, could ever run a job of this demand besides those."""
        ces = self._board.pool.columns.ces
        if demand.inter_cluster:
            rows = map(self._board.pool.columns.row_of, excluded)
            return self._eligibility.any_set_without(demand, [row for row in rows if row is not None])
        return any(ces[row] not in excluded for row in self._eligibility.of(demand).ever_rows.tolist())

    def _fit(
        self, demand: Demand, eligible: Eligibility, excluded: Collection[str], pool: Pool, fresh: int
    ) -> Selection | None:
        """Best fit (CB-SCH-05a) without putting all in order: the smallest of one number for each row."""
        if fresh > 0 and fresh & (fresh - 1) == 0:
            return self._only(demand, eligible, pool, fresh)
        rows, longest, all_free = eligible.rows, self._longest(demand), self._all_free(demand)
        surplus = pool.free.take(rows)
        surplus -= eligible.cpus
        full = surplus < _NONE
        if not all_free or pool.barred or excluded:
            full = ~self._roomy(rows, ~full, demand, eligible, excluded)
        if demand.description.interactive:
            full = ~self._first_way(rows, ~full)
        count = len(rows) - int(np.count_nonzero(full))
        if not count:
            return None
        queue = pool.waiting if pool.own_waiting is None else pool.own_waiting
        key = surplus if all_free else _later(surplus, queue.take(rows), pool.total.take(rows))
        if not eligible.flat:
            key += eligible.key
        if self._board.longest_queue > longest:
            key += (queue.take(rows) > longest) * _OVERLOADED
        if count < len(rows):
            np.putmask(key, full, _NEVER)
        return _alone(pool, demand, int(rows[key.argmin()]), count)

    def _first_way(self, rows: Rows, ok: Flags) -> Flags:
        """Of the rows that can take an interactive job those of the first way in which it can start: free
        processors or virtual slots, in the order of the mode (CB-SCH-08a)."""
        slots, mode = self._board.slots.take(rows), self._rules.interactive_mode
        if mode is InteractiveMode.EXCLUSIVE or not slots.any():
            return ok & ~slots
        first = ok & (slots if mode is InteractiveMode.SLOTS_FIRST else ~slots)
        return first if first.any() else ok

    def _all_free(self, demand: Demand) -> bool:
        """True if only resources with enough free CPUs have room: the same condition by which matching
        compares a job with free CPUs (CB-MM-05)."""
        return demand.description.interactive or self._rules.batch_capacity == "free"

    def _only(self, demand: Demand, eligible: Eligibility, pool: Pool, fresh: int) -> Selection | None:
        """The one row that can have become able to take a job."""
        row = fresh.bit_length() - 1
        if not eligible.now & fresh:
            return None
        enough = pool.free[row] >= demand.description.cpus
        if not self._board.usable[row] or (not enough and self._all_free(demand)):
            return None
        if not enough:
            enough = self._may_queue(row, pool) or self._fits_ahead(demand, eligible)
        return _alone(pool, demand, row, 1) if enough else None

    def _may_queue(self, row: int, pool: Pool) -> bool:
        """True if one row that may be used has place in its queue for a job of ours."""
        queue = pool.own_waiting
        return queue is not None and bool(
            self._board.queueing[row] and queue[row] < self._rules.max_site_queue
        )

    def _fits_ahead(self, demand: Demand, eligible: Eligibility) -> bool:
        """True if a demand that fits at one resource alone may be given to it before it is free."""
        if not self._rules.queue_ahead or len(eligible.ever_rows) != 1:
            return False
        only = self._board.pool.columns.ces[int(eligible.ever_rows[0])]
        return self._ahead(only) >= demand.description.cpus

    def _able(
        self, demand: Demand, eligible: Eligibility, excluded: Collection[str], pool: Pool, seed: int
    ) -> Able:
        """Resources that match, may be used, and have room."""
        if eligible.steady:
            rows, rank, close = eligible.rows, eligible.rank, eligible.close_files
        else:
            found = self._eligibility.matches(demand, pool, seed).candidates
            rows, rank, close = found.rows.astype(np.intp), found.rank, found.close_files
        free = pool.free.take(rows) >= demand.description.cpus
        roomy = self._roomy(rows, free, demand, eligible, excluded)
        ok = np.flatnonzero(self._first_way(rows, roomy) if demand.description.interactive else roomy)
        return Able(pool, rows[ok], rank[ok], close[ok])

    def _roomy(
        self, rows: Rows, ok: Flags, demand: Demand, eligible: Eligibility, excluded: Collection[str]
    ) -> Flags:
        """Which rows may be used and have room: enough free CPUs (`ok`), or place in a queue that we may
        use (CB-MM-05)."""
        pool, board, rules = self._board.pool, self._board, self._rules
        if not self._all_free(demand):
            if pool.own_waiting is not None:
                ok = ok | (board.queueing.take(rows) & (pool.own_waiting.take(rows) < rules.max_site_queue))
            if len(rows) and self._fits_ahead(demand, eligible):
                ok = np.ones_like(ok)
        if pool.barred:
            ok = ok & board.usable.take(rows)
        if excluded:
            barred = [row for ce in excluded if (row := pool.columns.row_of(ce)) is not None]
            ok = ok & ~np.isin(rows, barred)
        return ok

    def _ahead(self, ce: str) -> float:
        """Processors of a resource that may be given out now, its queue included."""
        entry = self._cache.entries.get(ce)
        if entry is None:
            return 0.0
        share = self._rules.queue_ahead * (_SHORT_AHEAD if entry.turnaround < _SHORT else 1)
        return entry.balance + entry.total * share

    def _choose_set(
        self, demand: Demand, excluded: Collection[str], pool: Pool, seed: int
    ) -> Selection | None:
        """The best set of computing elements (CB-SCH-05), filled as CB-SET-12 says."""
        found = self._eligibility.matches(demand, pool, seed)
        known = found.candidates
        able = Able(pool, known.rows.astype(np.intp), known.rank, known.close_files)
        choices = sets(able, found.groups)
        for index in self._arranged(choices, demand, seed):
            ces = choices.ces[index]
            if not any(ce in excluded for ce in ces):
                given = found.grouping.components(found.groups[index], demand.description.cpus)
                at, cpus = zip(*given, strict=True)
                return Selection(tuple(ces[member] for member in at), cpus, len(choices))
        return None

    def _choose_parts(
        self,
        demand: Demand,
        eligible: Eligibility,
        excluded: Collection[str],
        pools: tuple[Pool, Pool],
        seed: int,
    ) -> Selection | None:
        """Free processors, virtual slots, or both at one computing element (CB-SCH-08a); `pools`: the pool,
        and the same where slots count as processors."""
        (pool, seen), cpus = pools, demand.description.cpus
        able = replace(self._able(demand, eligible, excluded, seen, seed), pool=pool)
        if not len(able.rows):
            return None
        rows = able.rows[list(self._arranged(single(able), demand, seed))]
        free, both, ces = pool.free[rows], seen.free[rows], pool.columns.ces
        found = [
            InteractiveCapacity(ces[row], max(0, bare), all_ - bare)
            for row, bare, all_ in zip(rows.tolist(), free.tolist(), both.tolist(), strict=True)
        ]
        choice = choose_interactive(cpus, found, self._rules.interactive_mode)
        return None if choice is None else Selection(*parts_of(choice), len(found))

    def _arranged(self, choices: Choices, demand: Demand, seed: int) -> Sequence[int]:
        request = Request(
            demand.description.cpus,
            self._longest(demand),
            demand.description.interactive,
            demand.inter_cluster,
            seed,
        )
        found = arranged(self.order, choices, request)
        self.failed = found.problem
        self.problem = found.problem or self.problem
        return found.places

    def _longest(self, demand: Demand) -> int:
        """The longest queue that does not come last; interactive jobs never queue (CB-SCH-08)."""
        return 0 if demand.description.interactive else self._rules.max_site_queue


def _later(surplus: Counts, queue: Counts, total: Counts) -> Counts:
    """Rows without enough free CPUs come after the others, those first that will have them soonest."""
    return np.where(surplus < 0, BUSY + load(surplus, queue, total), surplus)


def _alone(pool: Pool, demand: Demand, row: int, of: int) -> Selection:
    return Selection((pool.columns.ces[row],), (demand.description.cpus,), of)
