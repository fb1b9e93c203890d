"""Plans kept for the columns they were made for, those used last."""

from __future__ import annotations

from collections import OrderedDict
from weakref import WeakValueDictionary

from broker_core.jdl.description import JobDescription
from broker_core.matching.columnar.by_value import JobSlots
from broker_core.matching.columnar.compiling import Tables
from broker_core.matching.context import Context
from broker_core.matching.plan import MatchPlan
from broker_core.resources.columns import Columns

PLANS_MAX = 512
"""Descriptions remembered for one set of columns, at most."""
WEIGHT_MAX = 32 << 20
"""Bytes of results that their plans may hold, about, for up to 32,000 resources; for more 1 KB each."""
_EVERY = 16
"""New plans between two times that their weight is looked at."""
_VALUE = 9
"""Bytes of one value of a table."""


class Memory:
    """Plans and tables over one set of columns."""

    def __init__(self) -> None:
        self._plans: OrderedDict[tuple[object, ...], MatchPlan] = OrderedDict()
        self._tables: Tables = WeakValueDictionary()
        self._slots: dict[str, JobSlots] = {}
        self._made = 0

    def plan(self, description: JobDescription, context: Context, columns: Columns) -> MatchPlan:
        """The plan for a description (by its identity) under a context; made where there is none."""
        key = (id(description), *context.demands)
        found = self._plans.get(key)
        if found is not None and found.layout == columns.layout:
            self._plans.move_to_end(key)
            return found
        slots = self._slots.setdefault(context.slots_tag, JobSlots(context.slots_tag))
        made = self._plans[key] = MatchPlan(description, context, columns, self._tables, slots)
        self._plans.move_to_end(key)
        self._made += 1
        if self._made % _EVERY == 0:
            self._lighten(max(WEIGHT_MAX, columns.size << 10))
        while len(self._plans) > PLANS_MAX:
            self._plans.popitem(last=False)
        return made

    def _lighten(self, most: int) -> None:
        """Forget what was not used for longest, until the rest is light enough."""
        tables: set[int] = set()
        weight = 0
        kept = 0
        for plan in reversed(self._plans.values()):
            weight += plan.weight
            for table in plan.tables:
                weight += 0 if id(table) in tables else _VALUE * len(table.values)
                tables.add(id(table))
            if weight > most:
                break
            kept += 1
        while len(self._plans) > max(1, kept):
            self._plans.popitem(last=False)


def memory_of(columns: Columns) -> Memory:
    """The memory that goes with some columns."""
    if columns.memory is None:
        columns.memory = Memory()
    assert isinstance(columns.memory, Memory)
    return columns.memory
