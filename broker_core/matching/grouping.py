"""Sets of computing elements for one job over several of them, from what matches it (CB-SET-02)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from broker_core.matching.candidates import Candidates
from broker_core.matching.columnar.arrays import TRUE
from broker_core.matching.columnar.view import View
from broker_core.matching.context import Context
from broker_core.matching.plan import ComponentDemand, MatchPlan
from broker_core.matching.sets.collective import FREE_CPUS, SetMember, condition_of, fulfilling
from broker_core.matching.sets.components import Assignment, FixedComponent, assign
from broker_core.matching.sets.find import find
from broker_core.matching.sets.group import Group, Sites, calculation, largest_of_each
from broker_core.matching.sets.trace import SearchTrace
from broker_core.resources.row_values import RowValues

Counts = npt.NDArray[np.int64]


def split(free: Sequence[int], need: int) -> tuple[int, ...]:
    """CPUs at each member: those with most free CPUs are filled first, the last one gets the rest.

    Of a smallest group every member gets at least one. The order of equal members is theirs in `free`.
    """
    given = [0] * len(free)
    for place in sorted(range(len(free)), key=lambda one: -free[one]):
        given[place] = min(free[place], need)
        need -= given[place]
    return tuple(given)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups in the order to be tried; members are positions among the candidates."""

    groups: tuple[Group, ...]
    usable: Counts
    """CPUs that one job may use at each candidate now (CB-TAG-04)."""
    fixed: dict[tuple[int, ...], Assignment] = field(default_factory=dict)
    """For a job that fixes its components: their places, by members."""
    note: str = ""
    """That the condition of the job failed and free CPUs alone count, in one sentence; empty otherwise."""
    sites: Sites | None = None
    """The site of each candidate as a number; None if no two are at one."""
    lacking: str = ""
    """Why a job that fixes its components has no group; empty for others."""

    @property
    def together(self) -> int:
        """CPUs that one job could use at most if groups had no limit: of each site only one queue counts."""
        counted = self.usable if self.sites is None else self.usable[largest_of_each(self.sites, self.usable)]
        return int(counted.sum())

    def cpus(self, group: Group, need: int) -> tuple[int, ...]:
        """CPUs that the job would use at each member (CB-SET-12)."""
        fixed = self.fixed.get(group.members)
        return split(self._usable(group), need) if fixed is None else fixed.shares

    def components(self, group: Group, need: int) -> tuple[tuple[int, int], ...]:
        """Of each component of the job the place of its member in the group, and its CPUs.

        In the order of the description for a job that fixes them, else one for each member.
        """
        fixed = self.fixed.get(group.members)
        if fixed is None:
            return tuple(enumerate(self.cpus(group, need)))
        return tuple(zip(map(fixed.ces.index, fixed.places), fixed.cpus, strict=True))

    def calculation(self, group: Group, ranks: Sequence[float | None]) -> str:
        """How the rank of a group was made, of whose members these are the ranks (CB-SET-05, CB-SET-11)."""
        fixed = self.fixed.get(group.members)
        return calculation(self._usable(group), ranks, group.rank) if fixed is None else fixed.calculation

    def _usable(self, group: Group) -> list[int]:
        return [int(self.usable[at]) for at in group.members]


def grouped(
    plan: MatchPlan, view: View, candidates: Candidates, context: Context, trace: SearchTrace | None = None
) -> Grouping:
    """The groups for a job that may use several computing elements."""
    usable = np.minimum(candidates.free, _limits(plan, view, candidates))
    sites = _sites(view, candidates)
    if plan.parts:
        return _assigned(plan.parts, view, candidates, context, Grouping((), usable, sites=sites), trace)
    note, name = "", condition_of(plan.description.ad)
    if name != FREE_CPUS:
        try:
            found = _fulfilling(name, plan, view, candidates, context, usable, sites, trace)
            return Grouping(tuple(found), usable, sites=sites)
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            why = f"{type(error).__name__}: {error}".rstrip(". ")
            note = f"The collective condition {name} failed, free CPUs alone count: {why}."
    found = find(
        list(candidates.ids),
        usable,
        candidates.plain,
        plan.description.cpus,
        mode=context.set_mode,
        max_ces=context.max_ces_per_set,
        max_groups=context.max_groups,
        best=True,
        trace=trace,
        sites=sites,
    )
    return Grouping(tuple(found), usable, note=note, sites=sites)


def _sites(view: View, candidates: Candidates) -> Sites | None:
    """The site of each candidate as a number; None if all are different."""
    found = view.pool.columns.site_numbers[candidates.rows]
    return None if len(np.unique(found)) == len(found) else found


def _fulfilling(
    name: str,
    plan: MatchPlan,
    view: View,
    candidates: Candidates,
    context: Context,
    usable: Counts,
    sites: Sites | None,
    trace: SearchTrace | None,
) -> list[Group]:
    """The sets by a condition that was plugged in. Raises what it raises; LookupError: it is gone."""
    if name not in context.collective:
        raise LookupError("it is not installed here")
    condition, need = context.collective[name], plan.description.cpus
    ids, columns, rank = candidates.ids, view.pool.columns, candidates.plain

    @cache
    def member(at: int) -> SetMember:
        row = int(candidates.rows[at])
        facts = (ids[at], columns.sites[row], int(usable[at]), float(rank[at]))
        return SetMember(*facts, RowValues(view.pool, row))

    def holds(members: tuple[int, ...]) -> bool:
        answer = condition([member(at) for at in members], need)
        if not isinstance(answer, bool | np.bool_):
            raise TypeError(f"it answered {type(answer).__name__}, not True or False")
        return bool(answer)

    steps = trace if trace is not None else SearchTrace(kept=False)
    steps.ids = ids
    limits = context.max_ces_per_set, context.max_groups
    return fulfilling(_named(view, candidates), usable, rank, need, holds, *limits, steps, sites)


def _named(view: View, candidates: Candidates) -> Counts:
    """Positions of the candidates, by their names."""
    positions = np.full(view.size, -1, np.int64)
    positions[candidates.rows] = np.arange(len(candidates))
    named = positions[view.pool.columns.order(view.size)]
    return named[named >= 0]


def _limits(plan: MatchPlan, view: View, candidates: Candidates) -> Counts:
    limits = plan.slots.rows(view)
    if plan.node_cpus is not None:
        limits = np.minimum(limits, plan.node_cpus.rows(view))
    return limits if limits.ndim == 0 else limits[candidates.rows]


def _assigned(
    parts: Sequence[ComponentDemand],
    view: View,
    candidates: Candidates,
    context: Context,
    empty: Grouping,
    trace: SearchTrace | None,
) -> Grouping:
    made = {id(part): _component(part, view, candidates) for part in parts}
    found = assign(
        list(candidates.ids),
        empty.usable,
        [made[id(part)] for part in parts],
        max_ces=context.max_ces_per_set,
        max_groups=context.max_groups,
        trace=trace,
        sites=empty.sites,
    )
    groups = [Group(one.ces, one.rank, int(candidates.free[list(one.ces)].sum())) for one in found]
    lacking = "" if found else _lacking([made[id(part)] for part in parts], empty.usable)
    return replace(empty, groups=tuple(groups), fixed={one.ces: one for one in found}, lacking=lacking)


def _lacking(components: Sequence[FixedComponent], usable: Counts) -> str:
    """The first component that fits nowhere, or that all of them do not fit together."""
    for number, one in enumerate(components, 1):
        if not len(one.places):
            return f"component {number} of SubJobs finds none that meets its Requirements"
        most = int(usable[one.places].max())
        if most < one.cpus:
            return (
                f"component {number} of SubJobs needs {one.cpus} CPUs, and those that meet its Requirements"
                f" have {most} at most"
            )
    return "the components of SubJobs do not find room there together"


def _component(part: ComponentDemand, view: View, candidates: Candidates) -> FixedComponent:
    own = part.wish.view(view)
    holds = np.ones(len(candidates), np.bool_)
    for one in part.wish.requirements:
        holds &= one.truth(own)[candidates.rows] == TRUE
    places = np.flatnonzero(holds)
    return FixedComponent(part.cpus, places, part.wish.ranks(own)[candidates.rows][places])
