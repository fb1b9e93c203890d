"""CPUs in all, CPUs free now, and room in the queue (CB-MM-02, CB-MM-05, CB-TAG-04)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.matching.columnar.by_value import UNLIMITED, ByValue, JobSlots
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition, Holds
from broker_core.matching.context import Context


def is_limit(value: Any) -> bool:
    """True for a whole number that limits something; 0 and 999999999 are how sites say that none does."""
    return type(value) is int and value not in (0, 999999999)


def cpus(description: JobDescription, context: Context, most: JobSlots) -> Iterator[Condition]:
    """Enough CPUs, of those that one job may have, and enough of them free where the job cannot wait at the
    site; a job over several sites is for set-matching."""
    if "inter-cluster" in description.needs or description.structure == "Workflow":
        return
    need = description.cpus

    def enough(view: View) -> Holds:
        return need <= np.minimum(view.pool.total[: view.size], most.rows(view))

    def words(view: View, row: int, held: bool) -> str:
        total = int(view.pool.total[row])
        limit = most.at(view, row)
        limited = f", of which one job may use {limit}" if limit < total else ""
        ignored = most.ignored(view, row)
        bad = f"; its limit {ignored!r} for one job is no number and was ignored" if ignored else ""
        return f"it has {counted(total)}{limited}; {need} wanted{bad}"

    yield Condition(f"at least {counted(need)}", "cpus", enough, words, lasting=False)
    if description.interactive or context.batch_capacity == "free":
        yield _free(need)


def _free(need: int) -> Condition:

    def holds(view: View) -> Holds:
        return view.pool.free[: view.size] >= need

    def words(view: View, row: int, held: bool) -> str:
        return f"{view.pool.free[row]} are free now; {need} wanted"

    text = f"at least {counted(need, 'free CPU')}"
    return Condition(text, "cpus", holds, words, now_only=True, lasting=False)


def queue(description: JobDescription) -> Condition:
    """Room in the queue of the site, for a job that would have to wait there."""
    limits = ByValue(
        "gluecepolicymaxwaitingjobs",
        lambda limit: limit if is_limit(limit) and abs(limit) < UNLIMITED else UNLIMITED,
    )
    need = description.cpus

    def holds(view: View) -> Holds:
        pool, size = view.pool, view.size
        return (pool.waiting[:size] < limits.rows(view)) | (pool.free[:size] >= need)

    def words(view: View, row: int, held: bool) -> str:
        limit = limits.at(view, row)
        if limit == UNLIMITED or view.pool.free[row] >= need:
            return ""
        return f"{view.pool.waiting[row]} jobs wait there; at most {limit} may"

    return Condition("room in its queue", "policy", holds, words, now_only=True, lasting=False)


def counted(count: int, noun: str = "CPU") -> str:
    """`1 CPU`, `2 CPUs`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
