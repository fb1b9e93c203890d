"""A log of the size of a real grid's, replayed by the production scheduler in virtual time.

`python -m tests.benchmarks.run simulation --trace FILE` replays that file. Otherwise a log is made: 188,041
sequential jobs over 170 computing elements with 24,515 CPUs, as long and as wide apart as those of the grid
log of which a cut comes with the program.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from broker_core.simulation import production
from broker_core.simulation.partitions import sites_of
from broker_core.simulation.replay import TraceReplay
from broker_core.simulation.swf import read_swf
from broker_core.simulation.trace import WorkloadTrace
from broker_core.system.gc_tuning import HARDLY_EVER, collect_rarely
from tests.benchmarks.figure import Figure

_JOBS, _SITES, _CPUS = 188_041, 170, 24_515
_SPAN = 950_000
"""Seconds from the first submission to the last."""
_LIMITS = (300, 600, 1200, 1800, 7200, 43200, 172800)


def measure() -> list[Figure]:
    """Jobs a second, best of three, with the reading of the trace apart."""
    begin = time.perf_counter()
    trace = _trace()
    read = time.perf_counter() - begin
    spent, worked = map(min, zip(*(_seconds(trace) for _ in range(3)), strict=True))
    return [
        Figure(
            f"{trace.name}: {len(trace)} jobs replayed", round(len(trace) / spent), "jobs/s", at_least=20_000
        ),
        Figure(f"{trace.name}: the same by processor time", round(len(trace) / worked), "jobs/s"),
        Figure(f"{trace.name}: the trace read or made", round(read, 2), "s"),
    ]


def _trace() -> WorkloadTrace:
    words = sys.argv[1:]
    if "--trace" in words:
        return read_swf(Path(words[words.index("--trace") + 1]))
    return _made()


def _made() -> WorkloadTrace:
    chance = random.Random(2005)
    submit = sorted(float(chance.randrange(_SPAN)) for _ in range(_JOBS))
    weights = [chance.paretovariate(1.0) for _ in range(_SITES)]
    return WorkloadTrace(
        name="made",
        submit=[one - submit[0] for one in submit],
        run=[float(round(chance.lognormvariate(7.5, 1.7))) for _ in range(_JOBS)],
        cpus=[1] * _JOBS,
        limit=[float(chance.choice(_LIMITS)) for _ in range(_JOBS)],
        partition=chance.choices(range(_SITES), weights, k=_JOBS),
        waited=[-1.0] * _JOBS,
        processors=_CPUS,
    )


def _seconds(trace: WorkloadTrace) -> tuple[float, float]:
    """How long one replay takes, and how much of that its process worked."""
    run = TraceReplay(trace, sites_of(trace), production.core())
    collect_rarely(HARDLY_EVER)
    begin, worked = time.perf_counter(), time.process_time()
    run.run()
    spent, worked = time.perf_counter() - begin, time.process_time() - worked
    if run.over != len(trace):
        raise RuntimeError(f"only {run.over} of {len(trace)} jobs have ended")
    return spent, worked
