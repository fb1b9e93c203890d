"""The selection of the jobs table while its lines are replaced: it stands for the same jobs afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.jobs.table import JobsTable

_MOST = 2000
"""Lines whose selection outlives a new order; more are hardly chosen one by one."""


@dataclass(frozen=True)
class Selected:
    """What was selected, by ids: lines are others under another order, fold or filter.

    Attributes:
        jobs: lines of single jobs.
        batches: id of each batch whose line was selected, with the rows of the jobs that it stood for.
        current: id of the current line, empty if there was none.
        top: id of the uppermost line in sight, empty if nothing was scrolled.
    """

    jobs: frozenset[str] = frozenset()
    batches: dict[str, frozenset[int]] = field(default_factory=dict)
    current: str = ""
    top: str = ""

    @classmethod
    def of(cls, table: JobsTable, lines: Sequence[int], current: int, top: int) -> Selected:
        """The selection of these lines; `current` and `top` are lines, or -1."""
        jobs, batches = set(), {}
        for line in lines[:_MOST]:
            batch = table.batch_at(line)
            if batch is None:
                jobs.add(table.id_at(line))
            else:
                batches[batch.id] = frozenset(batch.rows)
        return cls(
            frozenset(jobs),
            batches,
            table.id_at(current) if current >= 0 else "",
            table.id_at(top) if top >= 0 else "",
        )


def select_again(table: JobsTable, before: Selected) -> tuple[list[int], int, int]:
    """Lines to select, the current line and the uppermost one, or -1.

    The line of a batch that has other jobs now, since the filter changed, is unfolded: its jobs that were
    selected are so again, and no others.
    """
    view, rows = table.view, table.rows
    wanted = {rows.at[job] for job in before.jobs if job in rows.at}
    for index, batch in enumerate(view.batches):
        stood_for = before.batches.get(batch.id, frozenset())
        if stood_for.issuperset(batch.rows):
            wanted.add(-1 - index)
        elif not stood_for.isdisjoint(batch.rows):
            view.fold(view.line_of_batch(batch.id), True)
            wanted.update(stood_for.intersection(batch.rows))
    lines = [line for line, entry in enumerate(view.lines) if entry in wanted] if wanted else []
    return lines, _line_of(table, before.current), _line_of(table, before.top)


def _line_of(table: JobsTable, id: str) -> int:
    """The line of a job or batch; -1 if it is not shown, or its batch is folded."""
    if not id:
        return -1
    line = table.view.line_of_batch(id)
    if line < 0 and id in table.rows.at:
        line = table.view.line_of(id)
    return line
