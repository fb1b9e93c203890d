"""How a replay went over time: means over equal parts of it, exact whatever their number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from broker_core.jobs.counters import LONGER, WAIT_BOUNDS
from broker_core.simulation.outcome import Floats, ReplayOutcome


@dataclass(frozen=True, slots=True)
class Curves:
    """Series over time, one value for each part, and the classes of waits."""

    time: list[float]
    """The end of each part, in seconds since the first submission."""
    utilization: list[float]
    """Mean share of the processors in use in each part, 0 to 1."""
    average: list[float]
    """The same from the beginning to the end of each part."""
    queue: list[float]
    """Mean number of jobs that waited."""
    wait_bounds: list[int]
    """Upper bounds of the classes of waits, in seconds; -1 for the last, which has none."""
    wait_counts: list[int]
    """Jobs in each class."""

    def value(self) -> Mapping[str, object]:
        """As JSON."""
        return asdict(self)


def curves(outcome: ReplayOutcome, parts: int = 240) -> Curves:
    """The series of a replay."""
    ran = outcome.ran
    edges = np.linspace(0.0, outcome.makespan or 1.0, parts + 1)
    used = _integral(outcome.start[ran], outcome.end[ran], outcome.cpus[ran].astype(np.float64), edges)
    waiting = _integral(outcome.submit[ran], outcome.start[ran], np.ones(int(ran.sum())), edges)
    width, processors = edges[1] - edges[0], outcome.processors
    bounds = [*WAIT_BOUNDS, LONGER]
    classes = np.searchsorted(np.asarray(WAIT_BOUNDS), outcome.waits)
    return Curves(
        time=edges[1:].tolist(),
        utilization=(np.diff(used) / width / processors).tolist(),
        average=(used[1:] / edges[1:] / processors).tolist(),
        queue=(np.diff(waiting) / width).tolist(),
        wait_bounds=bounds,
        wait_counts=np.bincount(classes, minlength=len(bounds)).tolist(),
    )


def _integral(begin: Floats, end: Floats, weight: Floats, at: Floats) -> Floats:
    """Sum over intervals of weight times the part of the interval that lies before each moment of `at`."""
    times = np.concatenate([begin, end, at[:1]])
    change = np.concatenate([weight, -weight, [0.0]])
    order = np.argsort(times, kind="stable")
    times, level = times[order], np.cumsum(change[order])
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(times))])
    found: Floats = np.interp(at, times, area)
    return found
