"""Sites for a trace that only says how many processors there were in all: shared out by the peaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from broker_core.simulation.site import SiteFacts
from broker_core.simulation.trace import WorkloadTrace


def peaks(trace: WorkloadTrace) -> dict[int, int]:
    """Partition to the most processors that its jobs held at once, by the trace's own waits."""
    submit, run = np.asarray(trace.submit), np.asarray(trace.run)
    start = submit + np.maximum(0.0, np.asarray(trace.waited))
    cpus, where = np.asarray(trace.cpus), np.asarray(trace.partition)
    return {
        int(one): _peak(start[where == one], run[where == one], cpus[where == one])
        for one in np.unique(where)
    }


def _peak(start: NDArray[np.float64], run: NDArray[np.float64], cpus: NDArray[np.int64]) -> int:
    """Most processors in use at once; a job that ends makes room for one that starts at that moment."""
    times = np.concatenate([start + run, start])
    change = np.concatenate([-cpus, cpus])
    order = np.lexsort((change, times))
    return max(1, int(np.cumsum(change[order]).max()))


def share(processors: int, weights: dict[int, int]) -> dict[int, int]:
    """Processors by weight, at least 1 each; what rounding leaves goes to the largest remainders."""
    given: dict[int, int] = {}
    left, open_ = processors, dict(weights)
    while small := [one for one in open_ if open_[one] * left < sum(open_.values())]:
        for one in small:
            given[one] = 1
            del open_[one]
        left = processors - len(given)
    whole = sum(open_.values())
    exact = {one: left * weight / whole for one, weight in open_.items()}
    given |= {one: int(part) for one, part in exact.items()}
    by_remainder = sorted(exact, key=lambda one: (int(exact[one]) - exact[one], one))
    for one in by_remainder[: max(0, processors - sum(given.values()))]:
        given[one] += 1
    return {one: given[one] for one in weights}


def sites_of(trace: WorkloadTrace, processors: int = 0) -> tuple[SiteFacts, ...]:
    """One site for each partition of a trace; every site can hold the widest job that ran there.

    `processors` are shared out; 0: as many as the trace tells, or as its jobs held at most.
    """
    peak = peaks(trace)
    processors = processors or trace.processors
    given = share(processors, peak) if processors else peak
    widest: dict[int, int] = {}
    for one, cpus in zip(trace.partition, trace.cpus, strict=True):
        widest[one] = max(cpus, widest.get(one, 0))
    return tuple(
        SiteFacts(_name(trace, one, len(peak)), max(cpus, widest[one])) for one, cpus in given.items()
    )


def _name(trace: WorkloadTrace, partition: int, partitions: int) -> str:
    named = trace.partitions.get(partition)
    if named:
        return named
    return trace.header.get("Computer", "machine") if partitions == 1 else f"partition{partition}"
