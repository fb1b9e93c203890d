"""Set-matching: sets for 100 CPUs over 363 and over 10,000 computing elements (CB-SET, CB-RES), and by a
condition of an installed package."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from broker_core.matching.context import Context
from broker_core.matching.match import match
from broker_core.matching.sets import SearchTrace, find
from broker_core.matching.sets.collective import TRIALS_MAX, SetMember
from broker_core.resources.columns import Columns
from broker_core.resources.pool import Pool
from broker_core.resources.values import facts
from tests.benchmarks.figure import Figure
from tests.matching.grid_made import grid
from tests.matching.made import job

NEED = 100
PUBLISHED = 2.8
"""Seconds that the published system took for 100 CPUs over 363 computing elements."""
_ABLE = {
    "GlueHostApplicationSoftwareRunTimeEnvironment": ["PACX-MPI"],
    "GlueHostNetworkAdapterInboundIP": True,
    "GlueCEStateStatus": "Production",
}
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
    return [*figures, *_by_condition()]


def _by_condition() -> list[Figure]:
    """As many sets as one search looks at, by a condition that reads an attribute of each member.

    The broker's event loop waits for it. Processor time: what runs beside is not counted.
    """
    figures = []
    for count in BOUNDS:
        pool = _pool(count)
        times = [_search(pool, cpus, condition) for cpus in (2, 200) for condition in (_never, _two_sites)]
        name = f"{TRIALS_MAX} sets by a condition over {count} CEs, worst"
        figures.append(Figure(name, round(max(times) * 1e3, 2), "ms", at_most=10.0))
    return figures


def _never(members: Sequence[SetMember], wanted: int) -> bool:
    return any(one.attributes.get("gluesiteuniqueid") == "nowhere" for one in members)


def _two_sites(members: Sequence[SetMember], wanted: int) -> bool:
    return len({one.attributes.get("gluesiteuniqueid", one.site) for one in members}) > 1


def _search(pool: Pool, cpus: int, condition: Callable[[Sequence[SetMember], int], bool]) -> float:
    """Seconds of one search, the middle one of several."""
    context = Context(assume_abilities=True, batch_capacity="total", collective={"own": condition})
    wanted = f"NodeNumber = {cpus}; JobArch = \"Inter\"; CollectiveCondition = \"own\";"
    description = job(f'JobType = "Parallel"; SubJobType = "pacx-mpi"; {wanted}')
    spent = []
    for _ in range(7):
        found = match(description, pool, context=context)
        begin = time.process_time()
        groups = found.groups
        spent.append(time.process_time() - begin)
        if found.notes or bool(groups) is (condition is _never):
            raise RuntimeError(f"other sets were found than there are: {found.notes}")
    return median(spent)


def _pool(count: int) -> Pool:
    """A grid of which every computing element can take a part of such a job."""
    columns = Columns()
    counts = np.zeros((4, count), np.int64)
    for one in grid(count):
        known = one.attributes | _ABLE
        row = columns.put(one.ce, one.site, facts(known, one.ce, one.site))
        counts[:2, row] = one.total_cpus, one.total_cpus
    return Pool(columns, counts[0], counts[1], counts[2], counts[3])


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
