"""Jobs over several sites: how long a hundred that compete need the broker, and how soon a barrier opens."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median

from broker_core.jdl.check import check
from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded
from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.resources.facts import SourceHeard, facts_of
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource
from broker_core.scheduling.build import build
from broker_core.scheduling.coallocation.messages import (
    ComponentGathered,
    EndLauncher,
    ReleaseBarrier,
)
from broker_core.scheduling.demand import Demand, demand_of
from broker_core.scheduling.effects import Confirm, JobEnded, Submit
from broker_core.scheduling.messages import Arrival, Message, SubmissionRecorded
from tests.benchmarks.figure import Figure
from tests.launching.attempt import ONE, TWO, Job
from tests.scheduling.over_several import ABLE
from tests.waiting import eventually

JOBS, SITES, STARTS = 100, 20, 7
TEXT = 'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = {}; Executable = "/bin/true";'
BOUNDS = {16: 0.5, 100: 2.5}
"""Seconds of the broker for all jobs, by the CPUs of each."""


def measure() -> list[Figure]:
    """All figures of jobs over several sites."""
    found = [figure for cpus, bound in BOUNDS.items() for figure in _competing(cpus, bound)]
    return [*found, asyncio.run(_start_up())]


def _competing(cpus: int, bound: float) -> list[Figure]:
    """All come at once; those that find room run to their end, which makes room for others."""
    driven = _Driven(cpus)
    driven.run()
    if driven.done != JOBS:
        raise AssertionError(f"{driven.done} of {JOBS} jobs are done")
    what = f"{JOBS} competing co-allocations of {cpus} CPUs over {SITES} sites"
    told = f"processor time of the broker for {what}, each to its end"
    return [
        Figure(told, round(driven.spent, 3), "s", at_most=bound),
        Figure(f"longest slice of {what}", round(1000 * driven.longest, 2), "ms", at_most=10.0),
    ]


class _Driven:
    """A scheduler whose components do well at once, and what it took of a processor."""

    def __init__(self, cpus: int) -> None:
        chance = random.Random(8)
        names = (f"s{number:02}" for number in range(SITES))
        resources = [
            Resource(f"{name}:22/jobmanager-slurm-x", name, 49, chance.randrange(50), 0, 0, 0.0, ABLE)
            for name in names
        ]
        self._scheduler = build(_match, count(1).__next__)
        self._wake = self._clock = self.spent = self.longest = 0.0
        self._messages: list[Message] = []
        self.done = 0
        self._parts: dict[tuple[str, int], int] = {}
        heard = SourceHeard("sites", 0.0, 0.0, tuple(map(facts_of, resources)), complete=True, account=True)
        self._tell(heard)
        self._settle()
        self.spent = self.longest = 0.0
        text = TEXT.format(cpus)
        description = check(text).description
        assert description is not None
        demand = demand_of(description, text, "", "")
        records = (
            JobRecord(f"j{number}", "ann", "job", "Parallel", False, cpus, JobState.SUBMITTED, "", seq=1)
            for number in range(JOBS)
        )
        self._messages.append(SubmissionRecorded(tuple(Arrival(record, demand) for record in records)))

    def run(self) -> None:
        """Until all are done, or nothing moves any more."""
        idle = 0
        while self.done < JOBS and idle < JOBS:
            if self._messages:
                self._tell(self._messages.pop(0))
                idle = 0
            else:
                # Those that found no room are looked at again after a while.
                self._clock, idle = max(self._clock, self._wake), idle + 1
            self._settle()

    def _settle(self) -> None:
        while self._wake <= self._clock:
            self._tell(TimerFired())

    def _tell(self, message: Message) -> None:
        begin = time.thread_time()
        effects = self._scheduler.handle(message, Now(self._clock, self._clock))
        spent = time.thread_time() - begin
        self.spent += spent
        self.longest = max(self.longest, spent)
        for effect in effects:
            if isinstance(effect, Wake):
                self._wake = effect.at
            elif isinstance(effect, JobEnded):
                self.done += effect.record.state is JobState.DONE
            elif isinstance(effect, Submit):
                one = effect.component
                self._parts[one.job, one.attempt] = self._parts.get((one.job, one.attempt), 0) + 1
                self._messages.append(AttemptAccepted(one, held=True))
            elif isinstance(effect, Confirm):
                over_several = len(effect.record.placements) > 1
                one = effect.component
                self._messages.append(
                    ComponentGathered(one) if over_several else AttemptEnded(one, self._clock, 0)
                )
            elif isinstance(effect, ReleaseBarrier):
                every = range(self._parts[effect.job, effect.attempt])
                parts = (Component(effect.job, effect.attempt, index) for index in every)
                self._messages += [AttemptEnded(one, self._clock, 0) for one in parts]


def _match(demand: Demand, pool: Pool, seed: int) -> Matches:
    return match(demand.description, pool, context=Context())


async def _start_up() -> Figure:
    """From the start of the last component at its site to the release, with real processes of MPICH."""
    times = [await _opened() for _ in range(STARTS)]
    what = "last component running to barrier released, two components on loopback"
    return Figure(what, round(median(times), 3), "s", at_most=1.0)


async def _opened() -> float:
    with tempfile.TemporaryDirectory(prefix="cd-barrier-") as root:
        job = Job(Path(root))
        try:
            await job.start(ONE)
            await eventually(lambda: job.gathered() == [ONE])
            await job.launchers.words(TWO, job.chunks)
            begin = time.perf_counter()
            await job.start(TWO)
            await eventually(lambda: len(job.gathered()) == 2)
            job.launchers.release(ReleaseBarrier("j", 1))
            spent = time.perf_counter() - begin
            await job.codes()
        finally:
            job.launchers.end(EndLauncher("j", 1))
            await job.launchers.close()
        return spent
