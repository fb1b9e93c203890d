"""The resources that do not match, those nearest to matching first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from broker_core.matching.candidates import Rows
from broker_core.matching.clauses import Clause
from broker_core.matching.condition import Holds
from broker_core.matching.findings import Findings
from broker_core.matching.sorting import sorted_by
from broker_core.resources.record import Resource


@dataclass(frozen=True, slots=True)
class Rejected:
    """A resource that does not match."""

    resource: Resource
    reason: str
    """In one sentence."""
    clauses: tuple[Clause, ...]
    """Bars and the broker's conditions, then the clauses of Requirements, with their values there."""
    now_only: bool
    """It would match if it were idle and in production; else it never can."""


class Rejections(Sequence[Rejected]):
    """All that do not match; each is explained when it is looked at.

    Those that would match when idle come first, then by the number of lasting obstacles, of obstacles in
    all, and the name.
    """

    __slots__ = ("_findings", "now_only", "rows")

    def __init__(self, findings: Findings, holds: Holds) -> None:
        view = findings.view
        self._findings = findings
        order = view.pool.columns.order(view.size)
        rows = order[~holds[order]]
        lasting = findings.lasting.sum(axis=0, dtype=np.int64)
        failed = findings.failed.sum(axis=0, dtype=np.int64)
        never = findings.never[rows]
        keys = [never, lasting[rows], failed[rows]]
        self.rows: Rows = rows[sorted_by(keys)] if len(rows) else rows
        """Rows of the pool."""
        self.now_only = int(np.count_nonzero(~never))
        """So many would match if they were idle; the first ones."""

    def reason(self, position: int) -> str:
        """Why not, in one sentence: the first lasting obstacle, else the first."""
        return reason(self._findings.clauses(int(self.rows[position])))

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, position: int) -> Rejected: ...

    @overload
    def __getitem__(self, position: slice) -> list[Rejected]: ...

    def __getitem__(self, position: int | slice) -> Rejected | list[Rejected]:
        if isinstance(position, slice):
            return [self[at] for at in range(len(self))[position]]
        row = int(self.rows[position])
        found = self._findings.clauses(row)
        resource = self._findings.view.pool.resource(row)
        return Rejected(resource, reason(found), found, position % len(self) < self.now_only)


def reason(clauses: Sequence[Clause]) -> str:
    """The obstacle to name among the clauses at one resource; empty if there is none."""
    wrong = [clause for clause in clauses if not clause.holds]
    lasting = [clause for clause in wrong if not clause.now_only]
    return (lasting or wrong)[0].explanation if wrong else ""
