"""A description made ready to be matched again and again with the same columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.jdl.description import JobDescription
from broker_core.jdl.syntax.tree import Ad, Expression, ListOf, Literal, clauses_of
from broker_core.jdl.syntax.write import expression as written
from broker_core.matching.clauses import Wording
from broker_core.matching.columnar.arrays import TRUE, Truth, spread
from broker_core.matching.columnar.by_value import UNLIMITED, ByValue, JobSlots
from broker_core.matching.columnar.compiling import Compiled, Tables, compiled
from broker_core.matching.columnar.value_table import ValueTable
from broker_core.matching.columnar.view import State, View
from broker_core.matching.condition import Condition, Holds
from broker_core.matching.conditions import BY_BROKER, conditions
from broker_core.matching.context import Context
from broker_core.matching.own_requirements import own_requirements
from broker_core.resources.columns import Columns
from broker_core.resources.pool import Pool

Ranks = npt.NDArray[np.float64]
_NODE_CPUS = "gluehostarchitecturesmpsize"


def _limit(value: Any) -> int:
    return value if type(value) is int and 0 < value < UNLIMITED else UNLIMITED


class Requirement:
    """One clause of Requirements."""

    def __init__(self, node: Expression, compiled: Compiled) -> None:
        self.node = node
        self.compiled = compiled
        self.program = compiled.program
        self.lasting = compiled.lasting
        self.busy = compiled.busy

    @cached_property
    def wording(self) -> Wording:
        """How it is explained."""
        return Wording(self.node)

    def truth(self, view: View) -> Truth:
        """Its value by row."""
        return spread(self.program.truth(view), view.size)


class CompiledRequirements:
    """Requirements and Rank of the job, or of a component of it, compiled."""

    def __init__(self, own: Ad, columns: Columns, tables: Tables) -> None:
        nodes = clauses_of(own.get("requirements"))
        self.own = own
        self.requirements = [Requirement(node, compiled(node, own, columns, tables)) for node in nodes]
        rank = own.get("rank")
        self.rank = compiled(rank, own, columns, tables) if rank is not None else None
        self.compiled = [one.compiled for one in self.requirements]
        self.compiled += [self.rank] if self.rank is not None else []

    def view(self, view: View) -> View:
        """The same pool, looked at with this ad."""
        return replace(view, own=self.own)

    def ranks(self, view: View) -> Ranks:
        """Rank by row: 0.0 without one, nan where it is no number (CB-MM-04)."""
        if self.rank is None:
            return np.zeros(view.size)
        return spread(self.rank.program.ranks(view), view.size)


@dataclass(frozen=True, slots=True)
class ComponentDemand:
    """One kind of component of a job with SubJobs (CB-SET-11)."""

    cpus: int
    wish: CompiledRequirements


class MatchPlan:
    """The conditions and the compiled expressions of one description, for one set of columns."""

    def __init__(
        self,
        description: JobDescription,
        context: Context,
        columns: Columns,
        tables: Tables,
        slots: JobSlots,
    ) -> None:
        self.description = description
        self.context = context
        """Kept so that nothing that it is recognised by is given to another one."""
        self.layout = columns.layout
        self.own = description.ad if description.ad is not None else Ad()
        self.parts = list(_parts(self.own, columns, tables))
        self.conditions = (
            *conditions(description, context, slots),
            *own_requirements(description, columns),
            *_suits_a_part(self.parts),
        )
        self.wish = CompiledRequirements(self.own, columns, tables)
        self.slots = slots
        self.node_cpus = ByValue(_NODE_CPUS, _limit) if f"mpi:{BY_BROKER}" in description.needs else None
        """Processors of a node, for a job of which each component lies on one."""
        self._masks: dict[bool, tuple[State, Holds]] = {}
        self._ranks: dict[bool, tuple[State, Ranks]] = {}

    def view(self, pool: Pool, context: Context) -> View:
        """The pool as this plan looks at it."""
        return View(pool, pool.size, self.own, context.now, context.surroundings)

    def holds(self, view: View) -> Holds:
        """By row: every condition and clause holds there, and no bar is down."""
        mask = self._lasting(view).copy()
        for condition in self.conditions:
            if not condition.lasting:
                mask &= condition.holds(view)
        for one in self.wish.requirements:
            if not one.lasting:
                mask &= one.program.truth(view) == TRUE
        if view.pool.barred:
            mask[list(view.pool.barred)] = False
        return mask

    def ranks(self, view: View) -> Ranks:
        """Rank by row; not to be written to."""
        rank = self.wish.rank
        if rank is not None and not rank.lasting:
            return self.wish.ranks(view)
        state, quiet = view.state, view.pool.quiet
        known = self._ranks.get(quiet)
        if known is None or known[0] != state:
            known = self._ranks[quiet] = state, self.wish.ranks(view)
        return known[1]

    @property
    def weight(self) -> int:
        """Bytes of what is kept for each row."""
        kept = [*self._masks.values(), *self._ranks.values()]
        return sum(rows.nbytes for _, rows in kept)

    @property
    def tables(self) -> Iterator[ValueTable]:
        """What is kept for each distinct value; other plans may have the same."""
        for wish in (self.wish, *(part.wish for part in self.parts)):
            for one in wish.compiled:
                yield from one.tables

    def _lasting(self, view: View) -> Holds:
        """What holds by the attributes alone, worked out once until one of them changes."""
        state, quiet = view.state, view.pool.quiet
        known = self._masks.get(quiet)
        if known is None or known[0] != state:
            known = self._masks[quiet] = state, self._by_attributes(view)
        return known[1]

    def _by_attributes(self, view: View) -> Holds:
        mask = view.pool.columns.used[: view.size].copy()
        for condition in self.conditions:
            if condition.lasting:
                mask &= condition.holds(view)
        for one in self.wish.requirements:
            if one.lasting:
                mask &= one.program.truth(view) == TRUE
        return mask


def _parts(own: Ad, columns: Columns, tables: Tables) -> Iterable[ComponentDemand]:
    """Equal components share one object."""
    node = own.get("subjobs")
    known: dict[str, ComponentDemand] = {}
    for ad in node.items if isinstance(node, ListOf) else ():
        if not isinstance(ad, Ad):
            continue
        key = written(ad)
        if key not in known:
            count = ad.get("nodenumber")
            cpus = count.value if isinstance(count, Literal) and isinstance(count.value, int) else 1
            known[key] = ComponentDemand(cpus, CompiledRequirements(_component(own, ad), columns, tables))
        yield known[key]


def _suits_a_part(parts: list[ComponentDemand]) -> Iterable[Condition]:
    if not parts:
        return

    def holds(view: View) -> Holds:
        suits = np.zeros(view.size, np.bool_)
        for part in {id(part): part for part in parts}.values():
            own = part.wish.view(view)
            suits |= np.all([one.truth(own) == TRUE for one in part.wish.requirements], axis=0)
        return suits

    def words(view: View, row: int, held: bool) -> str:
        return f"it meets the Requirements of {'some' if held else 'no'} component of the job"

    yield Condition("suits a component", "requirements", holds, words, lasting=False)


def _component(own: Ad, ad: Ad) -> Ad:
    """A component's attributes over the job's, whose Requirements are tested by themselves (CB-JDL-10)."""
    job = {name: entry for name, entry in own.entries.items() if name not in ("requirements", "subjobs")}
    return Ad({**job, **ad.entries}, start=ad.start, end=ad.end)
