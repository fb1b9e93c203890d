"""Set-matching: sets for 100 CPUs over 363 and over 10,000 computing elements (CB-SET, CB-RES)."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from broker_core.matching.sets import SearchTrace, find
from tests.benchmarks.figure import Figure

NEED = 100
PUBLISHED = 2.8
"""Seconds that the published system took for 100 CPUs over 363 computing elements."""
BOUNDS = {363: 20.0, 10_000: 200.0}
"""Milliseconds."""


def _few(random: np.random.Generator, count: int) -> np.ndarray:
    """No pair suffices, triples do: as in a busy grid."""
    return random.integers(0, 50, count)


def _fours(random: np.random.Generator, count: int) -> np.ndarray:
    """Only four together suffice, and few of these."""
    return random.integers(0, 27, count)


def _skewed(random: np.random.Generator, count: int) -> np.ndarray:
    """Many small sites, few large ones."""
    return np.minimum(random.geometric(0.04, count) - 1, NEED - 1)


def _none(random: np.random.Generator, count: int) -> np.ndarray:
    """Four of the largest have one CPU too few."""
    return np.minimum(random.integers(0, 50, count), 24)


def _hidden(random: np.random.Generator, count: int) -> np.ndarray:
    """Any two of a handful suffice, and nothing else does."""
    free = random.integers(0, 11, count)
    free[:: max(1, count // 5)] = NEED // 2
    return free


SHAPES: tuple[Callable[[np.random.Generator, int], np.ndarray], ...] = (_few, _fours, _skewed, _none, _hidden)


def measure() -> list[Figure]:
    """Time for each shape of pool, the slowest of them against its bound; and with the trace."""
    figures = []
    for count, bound in BOUNDS.items():
        times = {shape.__name__[1:]: _time(shape, count) for shape in SHAPES}
        figures += [
            Figure(f"sets for {NEED} CPUs over {count} CEs, {name}", round(spent * 1e3, 2), "ms")
            for name, spent in times.items()
        ]
        worst = max(times.values())
        figures.append(
            Figure(
                f"sets for {NEED} CPUs over {count} CEs, worst", round(worst * 1e3, 2), "ms", at_most=bound
            )
        )
        if count == 363:
            figures.append(Figure("times faster than published", round(PUBLISHED / worst), "", at_least=140))
    figures.append(Figure("with trace, 363 CEs", round(_time(_few, 363, traced=True) * 1e3, 2), "ms"))
    return figures


def _time(
    shape: Callable[[np.random.Generator, int], np.ndarray], count: int, *, traced: bool = False
) -> float:
    """Seconds of one search: the middle one of several pools."""
    spent = []
    for seed in range(7):
        random = np.random.default_rng(seed)
        free = shape(random, count).astype(np.int64)
        rank = random.integers(100, 3000, count).astype(np.float64)
        ids = [f"ce{place:06}.example.org:2119/jobmanager-pbs-long" for place in range(count)]
        trace = SearchTrace() if traced else None
        begin = time.perf_counter()
        find(ids, free, rank, NEED, best=True, trace=trace)
        spent.append(time.perf_counter() - begin)
    return median(spent)
