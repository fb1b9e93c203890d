"""Parallel interactive jobs in parts: on free processors and in virtual slots of one computing element
(CB-SCH-08, rule 5)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.jobs.placement import slots_at
from broker_core.resources.pool import Counts, Pool
from broker_core.resources.resource_table import ResourceTable
from broker_core.scheduling.eligibility import Rows
from broker_core.scheduling.slots.interactive import InteractiveChoice

_JOINED = "mpich"
"""Kind of MPI whose processes a launcher of the broker joins, wherever they were started."""


def can_be_parts(description: JobDescription) -> bool:
    """True for an interactive job whose processes can be components of one processor each; one that says how
    its processes lie on nodes, or what else it needs of them, gets nodes from the batch system alone."""
    request = description.request
    return (
        description.interactive
        and description.cpus > 1
        and description.mpi == _JOINED
        and not (request.hosts or request.whole_nodes or request.gpus)
    )


def slots_beside(board: ResourceTable, pool: Pool, rows: Rows, excluded: Collection[str]) -> Counts:
    """Free interactive slots at the computing elements of some rows, by row of the pool; 0 elsewhere."""
    found = np.zeros_like(pool.free)
    for row in rows.tolist():
        slots = slots_at(pool.columns.ces[row])
        at = pool.columns.row_of(slots)
        if at is not None and board.usable[at] and slots not in excluded:
            found[row] = max(0, pool.free[at])
    return found


def parts_of(choice: InteractiveChoice) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Where the components of a job are, and the processors of each: one component has all free processors,
    and one each slot."""
    bare = ((choice.ce, choice.cpus),) if choice.cpus else ()
    parts = (*bare, *((slots_at(choice.ce), 1),) * choice.slots)
    return tuple(ce for ce, _ in parts), tuple(cpus for _, cpus in parts)
