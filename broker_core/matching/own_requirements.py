"""What resources demand of jobs: a match holds in both directions (CB-MM-01).

A resource may publish `Requirements`, an expression in which bare names are its own attributes and `other.X`
are the job's. It is turned round, so that it reads like Requirements of the job, and evaluated over columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import as_expression
from broker_core.jdl.syntax.parse import parse_expression
from broker_core.jdl.syntax.rewrite import rewritten
from broker_core.jdl.syntax.tree import UNDEFINED, Ad, Call, Entry, Expression, Literal, Reference, walk
from broker_core.matching.columnar.arrays import TRUE
from broker_core.matching.columnar.compiling import Compiled, Tables, compiled
from broker_core.matching.columnar.view import State, View
from broker_core.matching.condition import Condition, Holds
from broker_core.resources.columns import Columns

ATTRIBUTE = "requirements"
"""Lower-case name of the attribute of resources."""
FOR_THE_JOB_ALONE = frozenset(
    {
        "jobname",
        "executable",
        "arguments",
        "stdinput",
        "stdoutput",
        "stderror",
        "inputsandbox",
        "outputsandbox",
        "environment",
        "maxrunningjobs",
    }
)
"""Attributes of jobs that no resource sees, unless an expression of the job names them: jobs that differ in
these alone are matched once."""
_OTHER = ("other", "target")
_SELF = ("self", "my")
_OF_A_TEXT = frozenset({"eval", "evalineachcontext", "countmatches", "unparse", "unresolved"})
_FEW = 4
"""Rows of one text that are evaluated one by one: a program over all rows would cost more."""
SLOT_RULE = 'other.Interactive && other.JobType == "Normal"'
"""What virtual slots demand of jobs (CB-GLI-06)."""
_PLAIN = {SLOT_RULE: "its slots are for interactive jobs, one CPU each"}
"""Requirements that are told in words."""
_SHOWN = 120
"""Characters of an expression in a reason."""


def own_requirements(description: JobDescription, columns: Columns) -> list[Condition]:
    """The condition, where some resource has Requirements of its own."""
    if columns.column(ATTRIBUTE) is None:
        return []
    test = _Test(description)
    return [Condition("its own Requirements", "policy", test.holds, _words, lasting=False, name=ATTRIBUTE)]


def seen_by_resources(description: JobDescription) -> Ad:
    """The job as resources see it: its description, what holds where that says nothing, and what its words
    for the kind of the job mean, which may be of another dialect."""
    usual: dict[str, Any] = {"NodeNumber": description.cpus, "CpuNumber": description.cpus}
    if description.wall_limit is not None:
        usual["WallTime"] = description.wall_limit
    ad = description.ad if description.ad is not None else Ad()
    own = {key: entry for key, entry in ad.entries.items() if key not in FOR_THE_JOB_ALONE}
    kind = {"Interactive": description.interactive, "JobType": description.structure}
    return Ad({**_entries(usual), **own, **_entries(kind)})


def _entries(values: Mapping[str, Any]) -> Mapping[str, Entry]:
    made = as_expression(values)
    assert isinstance(made, Ad)
    return made.entries


@lru_cache(maxsize=4096)
def turned_round(text: str) -> Expression | None:
    """The expression as a job would write it; None for what cannot be read, or is made of texts or ads."""
    tree, _ = parse_expression(text)
    if tree is None:
        return None
    for part in walk(tree):
        if isinstance(part, Ad) or (isinstance(part, Call) and part.function.lower() in _OF_A_TEXT):
            return None
    return rewritten(tree, _turned)


def _turned(node: Literal | Reference) -> Expression:
    if isinstance(node, Literal):
        return node
    name, scope = node.name.lower(), node.scope
    if scope is None:
        return Reference(
            node.name if name not in _SELF else "other", None if name in _SELF else Reference("other")
        )
    if isinstance(scope, Reference) and scope.scope is None:
        word = scope.name.lower()
        if word in _OTHER:
            return Reference(node.name)
        if word in _SELF:
            return Reference(node.name, Reference("other"))
    return Reference(node.name, rewritten(scope, _turned))


class _Test:
    """Whether a job is what resources want, by row; what attributes alone decide is worked out once."""

    def __init__(self, description: JobDescription) -> None:
        self._seen = seen_by_resources(description)
        self._programs: dict[str, Compiled] = {}
        self._tables: Tables = WeakValueDictionary()
        self._layout = -1
        self._lasting: dict[bool, tuple[State, Holds]] = {}

    def holds(self, view: View) -> Holds:
        """True where a resource demands nothing, or its Requirements are true."""
        known = self._lasting.get(view.pool.quiet)
        if known is not None and known[0] == view.state:
            return known[1]
        column = view.pool.columns.column(ATTRIBUTE)
        assert column is not None
        if self._layout != view.pool.columns.layout:
            self._layout = view.pool.columns.layout
            self._programs.clear()
        found, lasting = np.ones(view.size, np.bool_), True
        codes = column.codes(view.size)
        seen = replace(view, own=self._seen)
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        for code, rows in zip(present.tolist(), np.split(order, starts[1:]), strict=True):
            if code:
                lasting &= self._put(found, seen, rows, column.values[code])
        if lasting:
            self._lasting[view.pool.quiet] = view.state, found
        return found

    def _put(self, found: Holds, seen: View, rows: Any, text: Any) -> bool:
        """Set the rows of one text; True if its value lasts as long as the attributes do."""
        node = turned_round(text) if isinstance(text, str) else None
        if node is None:
            found[rows] = text is True
            return True
        program = self._programs.get(text)
        if program is None:
            program = compiled(node, self._seen, seen.pool.columns, self._tables)
            self._programs[text] = program
        if len(rows) <= _FEW:
            found[rows] = [truth(seen.evaluate(node, seen.pool.values(row))) is True for row in rows.tolist()]
        else:
            held = program.program.truth(seen)
            found[rows] = held[rows] == TRUE if held.ndim else bool(held == TRUE)
        return program.lasting


def _words(view: View, row: int, held: bool) -> str:
    text = view.pool.value(row, ATTRIBUTE)
    if text is UNDEFINED:
        return ""
    shown = str(text) if len(str(text)) <= _SHOWN else f"{str(text)[: _SHOWN - 3]}..."
    if not held and not isinstance(text, bool) and (not isinstance(text, str) or turned_round(text) is None):
        return f"its own Requirements cannot be understood: {shown}"
    return _PLAIN.get(text, f"it wants jobs for which {shown}")
