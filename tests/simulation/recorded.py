"""Decisions of the scheduler over seeded workloads, and the record of them that is kept beside this file.

`python -m tests.simulation.recorded` writes the record anew, after a change that is meant.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from broker_core.jobs.events import JobEvent
from broker_core.policies.built_in import POLICIES
from broker_core.scheduling.config import SchedulerConfig
from broker_core.simulation import production
from broker_core.simulation.outcome import ReplayOutcome
from broker_core.simulation.replay import TraceReplay
from broker_core.simulation.site import SiteFacts
from tests.simulation.made import sites, workload

RECORD = Path(__file__).with_name("decisions.json")
Decided = dict[str, object]
_PLACES = {"ape": 4, "bee": 8, "cat": 16, "dog": 8}


def _plain(policy: str, queue: str) -> Decided:
    return _decided(sites(_PLACES), policy, queue)


def _delays() -> Decided:
    """Answers, news and reports come late; sites of two speeds."""
    slow = {"submission_delay": 20.0, "poll_delay": 15.0, "publish_interval": 60.0}
    places = [replace(site, **slow) for site in sites(_PLACES)]
    places[1] = replace(places[1], speed=2.5)
    return _decided(tuple(places), "best-fit", "fcfs")


def _refusals() -> Decided:
    """One site refuses whatever it cannot start, and its report hides that others use it."""
    places = list(sites(_PLACES))
    places[2] = replace(places[2], max_queue=0, busy=10)
    return _decided(tuple(places), "best-fit", "fcfs")


def _without_cache() -> Decided:
    places = tuple(replace(site, answer_delay=2.0) for site in sites(_PLACES))
    return _decided(places, "best-fit", "fcfs", SchedulerConfig(cache=False))


SCENARIOS: dict[str, Callable[[], Decided]] = {
    "best fit": lambda: _plain("best-fit", "fcfs"),
    "worst fit": lambda: _plain("worst-fit", "fcfs"),
    "first fit": lambda: _plain("first-fit", "fcfs"),
    "backfill": lambda: _plain("best-fit", "bounded-backfill"),
    "delays": _delays,
    "refusals": _refusals,
    "without a cache": _without_cache,
}


def _decided(
    places: tuple[SiteFacts, ...], policy: str, queue: str, rules: SchedulerConfig | None = None
) -> Decided:
    """A digest of every step of every job, and figures that say what a change of it means."""
    digest = hashlib.sha256()
    steps = 0

    def listen(event: JobEvent) -> None:
        nonlocal steps
        steps += 1
        where = ",".join(event.resources)
        digest.update(f"{event.time!r} {event.job} {event.attempt} {event.type.value} {where}\n".encode())

    trace = workload(7, jobs=600, widest=16, load=1.3)
    run = TraceReplay(trace, places, production.core(POLICIES[policy], queue, rules), listen)
    run.run()
    figures = ReplayOutcome(trace, places, run.start, run.end, run.place).summary()
    return {
        "digest": digest.hexdigest(),
        "steps": steps,
        "mean wait": round(figures.wait.mean, 3),
        "utilization": round(figures.utilization, 6),
        "given up": figures.given_up,
    }


def main() -> None:
    """Write the record."""
    decided = {name: scenario() for name, scenario in SCENARIOS.items()}
    RECORD.write_text(json.dumps(decided, indent=2) + "\n")


if __name__ == "__main__":
    main()
