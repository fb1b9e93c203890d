"""Where a description can run, in which order, and why not elsewhere: one function for all who ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.matching import advice as advising
from broker_core.matching.candidates import Candidate, Candidates, Counts
from broker_core.matching.clauses import Clause
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Holds
from broker_core.matching.context import DEFAULT, Context
from broker_core.matching.findings import ClauseCount, Findings
from broker_core.matching.grouping import Grouping, grouped
from broker_core.matching.ordering import best_fit, drawn, fuzzy
from broker_core.matching.plan import MatchPlan
from broker_core.matching.plan_cache import memory_of
from broker_core.matching.rejected import Rejected, Rejections
from broker_core.matching.sets.group import Group
from broker_core.matching.sets.trace import SearchTrace
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource

__all__ = ["Candidate", "Matches", "Rejected", "match"]


@dataclass(frozen=True)
class Matches:
    """The answer for one description.

    The candidates are as they were when matched; all else is worked out when it is asked for, from the pool
    as it is then, and so belongs to the same moment.
    """

    description: JobDescription
    context: Context
    candidates: Candidates
    """Best first (CB-SCH-05a)."""
    plan: MatchPlan
    view: View
    holds: Holds
    """By row of the pool: it matches."""
    policy_note: str = ""
    """That the policy asked for failed and the built-in order counts; empty otherwise."""

    @property
    def known(self) -> int:
        """Resources there are."""
        return int(np.count_nonzero(self.view.pool.columns.used[: self.view.size]))

    @property
    def several(self) -> bool:
        """The job may use several computing elements."""
        return "inter-cluster" in self.description.needs

    @property
    def feasible(self) -> bool:
        """Some known resource can run it, now or when it is idle (CB-SCH-12)."""
        if self.several:
            return bool(self.groups) or bool(self._when_idle.groups)
        return bool(self.candidates) or self.rejected.now_only > 0

    @cached_property
    def findings(self) -> Findings:
        """The value of every condition and clause everywhere."""
        return Findings(self.plan, self.view)

    @cached_property
    def rejected(self) -> Rejections:
        """Those that do not match, nearest to matching first."""
        return Rejections(self.findings, self.holds)

    @property
    def counts(self) -> tuple[ClauseCount, ...]:
        """How many resources satisfy each condition and clause, and how many fail it alone."""
        return self.findings.counts

    def explain(self, row: int) -> tuple[Clause, ...]:
        """Every condition and clause with its value at one row of the pool, and why."""
        return self.findings.clauses(row)

    @cached_property
    def advice(self) -> str:
        """The smallest change that would make it match; empty if it does."""
        return "" if self.candidates and (self.groups or not self.several) else advising.advise(self)

    @cached_property
    def analysis(self) -> str:
        """How many match and what keeps the rest out, in one sentence."""
        return advising.analyze(self)

    @property
    def notes(self) -> str:
        """What was plugged in and failed, in sentences; empty if nothing did."""
        return " ".join(filter(None, (self.policy_note, self.grouping.note)))

    @property
    def groups(self) -> tuple[Group, ...]:
        """For a job over several computing elements: the sets of them, in order; else empty."""
        return self.grouping.groups

    @cached_property
    def grouping(self) -> Grouping:
        """The sets with the CPUs that the job would use at each member."""
        if not self.several:
            return Grouping((), np.zeros(0, np.int64))
        return grouped(self.plan, self.view, self.candidates, self.context)

    def with_groups(self, groups: tuple[Group, ...]) -> Matches:
        """The same answer with its groups in another order, or without some."""
        found = replace(self)
        vars(found)["grouping"] = replace(self.grouping, groups=groups)
        return found

    def trace(self) -> list[str]:
        """The steps of the selection of sets (SA-UI-02); empty for other jobs."""
        told = SearchTrace()
        if self.several:
            grouped(self.plan, self.view, self.candidates, self.context, told)
        return told.lines

    @cached_property
    def _when_idle(self) -> Grouping:
        return match(self.description, self.view.pool.idle(), context=self.context).grouping


def match(
    description: JobDescription, resources: Pool | Iterable[Resource], *, context: Context = DEFAULT
) -> Matches:
    """Match one description with resources (CB-MM-01 to CB-MM-05); pure, and never raises.

    What is compiled for a description is kept with the pool's columns and found again by the description's
    identity.
    """
    pool = resources if isinstance(resources, Pool) else Pool.of(resources)
    plan = memory_of(pool.columns).plan(description, context, pool.columns)
    view = plan.view(pool, context)
    holds = plan.holds(view)
    return Matches(description, context, _candidates(plan, view, holds, context), plan, view, holds)


def _candidates(plan: MatchPlan, view: View, holds: Holds, context: Context) -> Candidates:
    pool = view.pool
    order = pool.columns.order(view.size)
    named = order[holds[order]]
    waiting = (pool.waiting if pool.own_waiting is None else pool.own_waiting)[named]
    close = _close(view, context)[named] if context.close else None
    plain, free, total = plan.ranks(view)[named], pool.free[named], pool.total[named]
    factor = fuzzy(plan.description.ad)
    rank = plain if factor is None else drawn(plain, factor, context.fuzzy_seed)
    job = plan.description
    at = best_fit(free, total, waiting, rank, close, job.cpus, context.queue_limit(job.interactive))
    rows, ranked = named[at], rank[at]
    return Candidates(
        pool,
        rows,
        free[at],
        total[at],
        waiting[at],
        ranked,
        np.zeros(len(rows), np.int64) if close is None else close[at],
        ranked if factor is None else plain[at],
    )


def _close(view: View, context: Context) -> Counts:
    found = np.zeros(view.size, np.int64)
    for ce, files in context.close.items():
        row = view.pool.columns.row_of(ce)
        if row is not None and row < view.size:
            found[row] = files
    return found
