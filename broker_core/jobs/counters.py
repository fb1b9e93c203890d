"""The counters of CB-LIFE-06 and the bounds of the waiting times, from job records."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState

STAGES = ("submitted", "accepted", "matched", "run", "completed", "cleared")
"""The stages counted, in the order of the thesis's table 5.3."""

KINDS = tuple(
    f"{structure} {function}"
    for structure in ("Normal", "Parallel", "Workflow")
    for function in ("batch", "interactive")
)
"""Kinds of job, in the order they are shown in."""

WAIT_BOUNDS: tuple[int, ...] = (1, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400)
"""Upper bounds in seconds of the classes of waiting times; longer waits form the last class."""

LONGER = -1
"""Stands for the class above the last bound."""

NEVER = -2
"""Stands for a job that has not started."""


def kind_of(structure: str, interactive: bool) -> str:
    """The kind under which a job is counted, e.g. `Normal batch`."""
    return f"{structure} {'interactive' if interactive else 'batch'}"


def counts_of(record: JobRecord) -> tuple[int, int, int, int, int, int]:
    """1 for each of STAGES that a job has reached at least once, else 0."""
    return (
        1,
        int(record.accepted is not None),
        int(record.matched is not None),
        int(record.started is not None),
        int(record.state in (JobState.DONE, JobState.CLEARED)),
        int(record.state is JobState.CLEARED),
    )


def wait_bound(submitted: float, started: float | None) -> int:
    """The class of WAIT_BOUNDS that a job's waiting time falls into, or LONGER, or NEVER.

    A clock that was set back counts as no wait.
    """
    if started is None:
        return NEVER
    place = bisect_left(WAIT_BOUNDS, started - submitted)
    return WAIT_BOUNDS[place] if place < len(WAIT_BOUNDS) else LONGER


def count(records: Sequence[JobRecord]) -> dict[str, dict[str, int]]:
    """Kind to stage to number of jobs, for the kinds that occur, in the order of KINDS."""
    totals: dict[str, dict[str, int]] = {}
    for record in records:
        stages = totals.setdefault(kind_of(record.structure, record.interactive), dict.fromkeys(STAGES, 0))
        for stage, reached in zip(STAGES, counts_of(record), strict=True):
            stages[stage] += reached
    return {kind: totals[kind] for kind in sorted(totals, key=kind_order)}


def kind_order(kind: str) -> tuple[int, str]:
    """Sort key that puts kinds in the order of KINDS, unknown ones last."""
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), kind)
