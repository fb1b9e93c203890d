"""Workloads and sites made from a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping

from broker_core.simulation import production
from broker_core.simulation.outcome import ReplayOutcome
from broker_core.simulation.replay import Listener, TraceReplay
from broker_core.simulation.site import SiteFacts
from broker_core.simulation.trace import WorkloadTrace


def workload(
    seed: int, jobs: int = 400, widest: int = 8, load: float = 1.0, whole: bool = False
) -> WorkloadTrace:
    """Jobs that arrive `load` times as fast as 20 processors serve them; some at once, some of no length."""
    chance = random.Random(seed)
    submit, run, cpus, now = [], [], [], 0.0
    for _ in range(jobs):
        submit.append(now)
        cpus.append(1 << chance.randrange(widest.bit_length()))
        run.append(0.0 if chance.random() < 0.05 else chance.expovariate(1 / 300))
        now += 0.0 if chance.random() < 0.2 else chance.expovariate(load / 60)
    if whole:
        submit, run = [float(round(one, -1)) for one in submit], [float(round(one, -1)) for one in run]
    return WorkloadTrace(f"seed {seed}", submit, run, cpus, [-1.0] * jobs, [-1] * jobs, [-1.0] * jobs)


def sites(cpus: Mapping[str, int]) -> tuple[SiteFacts, ...]:
    return tuple(SiteFacts(name, count) for name, count in cpus.items())


def replayed(
    trace: WorkloadTrace, places: tuple[SiteFacts, ...], listener: Listener | None = None
) -> ReplayOutcome:
    run = TraceReplay(trace, places, production.core(), listener)
    run.run()
    return ReplayOutcome(trace, places, run.start, run.end, run.place)
