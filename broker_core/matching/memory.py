"""Plans kept for the columns they were made for, those used last."""

from __future__ import annotations

from collections import OrderedDict
from weakref import WeakValueDictionary

from broker_core.jdl.description import JobDescription
from broker_core.matching.compiling import Tables
from broker_core.matching.context import Context
from broker_core.matching.plan import Plan
from broker_core.resources.columns import Columns

PLANS_MAX = 512
"""Descriptions remembered for one set of columns, at most."""
WEIGHT_MAX = 32 << 20
"""Bytes of results by row that their plans may hold, about."""
_EVERY = 16
"""New plans between two times that their weight is looked at."""


class Memory:
    """Plans and tables over one set of columns."""

    def __init__(self) -> None:
        self._plans: OrderedDict[tuple[object, ...], Plan] = OrderedDict()
        self._tables: Tables = WeakValueDictionary()
        self._made = 0

    def plan(self, description: JobDescription, context: Context, columns: Columns) -> Plan:
        """The plan for a description (by its identity) under a context; made where there is none."""
        key = (id(description), *context.demands)
        found = self._plans.get(key)
        if found is not None and found.layout == columns.layout:
            self._plans.move_to_end(key)
            return found
        made = self._plans[key] = Plan(description, context, columns, self._tables)
        self._plans.move_to_end(key)
        self._forget()
        return made

    def _forget(self) -> None:
        self._made += 1
        most = PLANS_MAX
        if self._made % _EVERY == 0:
            heaviest = max(plan.weight for plan in self._plans.values())
            most = max(_EVERY, min(most, WEIGHT_MAX // max(1, heaviest)))
        while len(self._plans) > most:
            self._plans.popitem(last=False)


def memory_of(columns: Columns) -> Memory:
    """The memory that goes with some columns."""
    if columns.memory is None:
        columns.memory = Memory()
    assert isinstance(columns.memory, Memory)
    return columns.memory
