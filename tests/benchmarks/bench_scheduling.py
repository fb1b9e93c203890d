"""Decisions at scale: a long queue of few kinds of jobs, and a cache that is refreshed meanwhile."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator
from itertools import count

from broker_core.jdl.check import check
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.resources.facts import Facts, SourceHeard
from broker_core.resources.pool import Pool
from broker_core.scheduling.build import build
from broker_core.scheduling.demand import Demand, demand_of
from broker_core.scheduling.effects import Submit
from broker_core.scheduling.messages import Arrival, Message, SubmissionRecorded
from broker_core.system.gc_tuning import collect_rarely
from tests.benchmarks.figure import Figure

JOBS, DEMANDS, CES, MANY = 10_000, 50, 1000, 10_000
CONTEXT = Context()
TAGS = [f"VO-{name}-{number}" for name in ("biomed", "atlas", "cms", "lhcb") for number in range(10)]


def measure() -> list[Figure]:
    """All scheduling figures."""
    before = gc.get_threshold()
    try:
        return [*_queue(), *_refresh()]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def _queue() -> list[Figure]:
    """All jobs arrive at once; the CEs have room for all of them."""
    driven = _Driven(CES)
    jobs = driven.jobs(JOBS)
    collect_rarely()
    begin = time.perf_counter()
    driven.tell(SubmissionRecorded(jobs))
    driven.settle()
    spent = time.perf_counter() - begin
    if driven.sent != JOBS:
        raise AssertionError(f"{driven.sent} of {JOBS} jobs were sent")
    what = f"{JOBS} jobs of {DEMANDS} requirement sets over {CES} CEs"
    return [
        Figure(f"scheduling {what}", round(spent, 3), "s", at_most=1.0),
        Figure("longest slice of it", round(1000 * driven.longest, 2), "ms", at_most=10.0),
        Figure("matches over all CEs for it", driven.asked, "", at_most=2.0 * DEMANDS),
    ]


def _refresh() -> list[Figure]:
    """While a large source is merged, each decision waits for one slice at most."""
    driven = _Driven(MANY)
    driven.tell(SubmissionRecorded(driven.jobs(DEMANDS)))
    driven.settle()
    driven.longest = 0.0
    collect_rarely()
    begin = time.perf_counter()
    driven.hear(MANY, later=True)
    decisions = 0
    for arrival in _single(driven):
        driven.tell(SubmissionRecorded((arrival,)))
        decisions += 1
        if driven.wake > driven.monotonic:
            break
        driven.tell(TimerFired())
    spent = time.perf_counter() - begin
    what = f"refresh of {MANY} CEs, all with news"
    return [
        Figure(
            f"longest delay of a decision by a {what}", round(1000 * driven.longest, 2), "ms", at_most=10.0
        ),
        Figure(f"{what}, {decisions} decisions meanwhile", round(spent, 2), "s"),
    ]


def _single(driven: _Driven) -> Iterator[Arrival]:
    for _ in range(10 * MANY):
        yield driven.jobs(1)[0]


class _Driven:
    """A scheduler with resources, and how long its slowest step took."""

    def __init__(self, ces: int) -> None:
        self._chance = random.Random(5)
        self._numbers = count(1)
        self._demands = _demands()
        self.monotonic, self.wake, self.longest, self.sent = 0.0, 0.0, 0.0, 0
        positions = count(1)
        self._scheduler = build(self._match, lambda: next(positions))
        self.hear(ces)
        self.settle()
        self.longest, self.asked = 0.0, 0

    def _match(self, demand: Demand, pool: Pool, seed: int) -> Matches:
        self.asked += 1
        return match(demand.description, pool, context=CONTEXT)

    def jobs(self, number: int) -> tuple[Arrival, ...]:
        """Jobs of all demands, mixed."""
        found = []
        for _ in range(number):
            demand = self._chance.choice(self._demands)
            record = JobRecord(
                str(next(self._numbers)), "ann", "job", "Normal", False, 1, JobState.SUBMITTED, "", seq=1
            )
            found.append(Arrival(record, demand))
        return tuple(found)

    def hear(self, ces: int, *, later: bool = False) -> None:
        """A source tells of all CEs; the first time, or with other values."""
        self.asked = 0
        facts = tuple(_facts(number, self._chance, later) for number in range(ces))
        self.tell(SourceHeard("bdii", self.monotonic, self.monotonic, facts, complete=True, account=True))

    def tell(self, message: Message) -> None:
        """One step."""
        begin = time.perf_counter()
        effects = self._scheduler.handle(message, Now(self.monotonic, self.monotonic))
        self.longest = max(self.longest, time.perf_counter() - begin)
        for effect in effects:
            if isinstance(effect, Wake):
                self.wake = effect.at
            elif isinstance(effect, Submit):
                self.sent += 1

    def settle(self) -> None:
        """All slices that follow at once."""
        while self.wake <= self.monotonic:
            self.tell(TimerFired())


def _demands() -> list[Demand]:
    """Different requirement sets of 3 to 4 clauses; each CE suits about every second of them."""
    found = []
    for number in range(DEMANDS):
        text = (
            'Executable = "job"; Requirements = other.GlueCEStateStatus == "Production" && '
            f"other.GlueHostMainMemoryRAMSize >= {256 * (1 + number % 4)} && "
            f"other.GlueHostBenchmarkSI00 >= {400 + number}"
        )
        if number % 5 == 0:
            text += f' && Member("{TAGS[number % 4]}", other.GlueHostApplicationSoftwareRunTimeEnvironment)'
        text += "; Rank = other.GlueHostBenchmarkSI00;" if number % 2 else "; Rank = 0;"
        checked = check(text)
        if checked.description is None:
            raise AssertionError(checked.diagnostics)
        found.append(demand_of(checked.description, text))
    return found


def _facts(number: int, chance: random.Random, later: bool) -> Facts:
    ce = f"ce{number:05}.example.org:2119/jobmanager-lcgpbs-long"
    total = 20 + number % 40
    attributes = {
        "GlueCEUniqueID": ce,
        "GlueCEInfoLRMSType": "pbs",
        "GlueCEInfoTotalCPUs": total,
        "GlueCEStateFreeCPUs": total,
        "GlueCEStateRunningJobs": 0,
        "GlueCEStateWaitingJobs": 0,
        "GlueCEStateStatus": "Production",
        "GlueCEStateEstimatedResponseTime": chance.randrange(10_000) if later else 0,
        "GlueCEPolicyMaxWallClockTime": 2880,
        "GlueHostMainMemoryRAMSize": 256 * (1 + number % 8),
        "GlueHostBenchmarkSI00": 400 + number % 400,
        "GlueHostOperatingSystemName": "Scientific Linux",
        "GlueHostApplicationSoftwareRunTimeEnvironment": [TAGS[number % 40], TAGS[number % 4], "LCG-2_7_0"],
        "GlueSiteName": f"site{number // 4}",
    }
    return Facts(ce, f"site{number // 4}", attributes)
