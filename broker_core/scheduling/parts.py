"""Parallel interactive jobs in parts: on free processors and in virtual slots of one computing element
(CB-SCH-08, rule 5)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.jobs.placement import slots_at
from broker_core.resources.pool import Counts, Pool
from broker_core.resources.resource_table import ResourceTable
from broker_core.scheduling.slots.interactive import InteractiveChoice, InteractiveMode

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


def seen_by(
    description: JobDescription,
    pool: Pool,
    board: ResourceTable,
    mode: InteractiveMode,
    excluded: Collection[str] = (),
) -> Pool:
    """The pool as a job sees it: free slots count as free processors of their queue for one that can be in
    parts; any other job sees the pool itself."""
    if mode is InteractiveMode.EXCLUSIVE or not can_be_parts(description) or not board.slots.any():
        return pool
    return replace(pool, free=pool.free + _slots_beside(pool, board, excluded))


def _slots_beside(pool: Pool, board: ResourceTable, excluded: Collection[str]) -> Counts:
    """Free interactive slots at each computing element; 0 for the rows of the slots themselves."""
    found, size, ces, sites = np.zeros_like(pool.free), pool.size, pool.columns.ces, pool.columns.sites
    slots = board.slots[:size]
    rows = [row for row in np.flatnonzero(slots & (pool.free[:size] > 0)).tolist() if row not in pool.barred]
    free = {ces[row]: int(pool.free[row]) for row in rows if ces[row] not in excluded}
    here = {sites[row] for row in rows}
    for row in np.flatnonzero(~slots).tolist():
        if sites[row] in here:
            found[row] = free.get(slots_at(ces[row]), 0)
    return found


def parts_of(choice: InteractiveChoice) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Where the components of a job are, and the processors of each: one component has all free processors,
    and one each slot."""
    bare = ((choice.ce, choice.cpus),) if choice.cpus else ()
    parts = (*bare, *((slots_at(choice.ce), 1),) * choice.slots)
    return tuple(ce for ce, _ in parts), tuple(cpus for _, cpus in parts)
