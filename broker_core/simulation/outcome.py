"""What a replay came to: when and where each job ran, and the figures of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from broker_core.simulation.site import SiteFacts
from broker_core.simulation.trace import WorkloadTrace

Floats = NDArray[np.float64]
SHORT = 10.0
"""Seconds: jobs that ran shorter count as this long in the bounded slowdown, the bound in common use."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over all jobs; all 0 where there were none."""

    mean: float
    median: float
    p95: float
    most: float

    @classmethod
    def of(cls, values: Floats) -> Spread:
        """The spread of some values."""
        if not len(values):
            return cls(0.0, 0.0, 0.0, 0.0)
        median, p95 = np.percentile(values, (50, 95))
        return cls(float(values.mean()), float(median), float(p95), float(values.max()))


@dataclass(frozen=True, slots=True)
class SiteShare:
    """What one site did."""

    site: str
    cpus: int
    jobs: int
    utilization: float
    """Share of its processors' time that was used, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a replay; times are seconds of the virtual clock."""

    jobs: int
    finished: int
    given_up: int
    """Jobs that never ran, because no site could ever take them."""
    sites: int
    cpus: int
    makespan: float
    """From the first submission to the last end."""
    utilization: float
    """Share of all processors' time that was used, 0 to 1."""
    wait: Spread
    slowdown: Spread
    """(wait + run) / run, for jobs that ran at all."""
    bounded_slowdown: Spread
    """The same with run times of at least SHORT, and never below 1."""

    def value(self) -> Mapping[str, object]:
        """As JSON."""
        return asdict(self)


class ReplayOutcome:
    """Start, end and place of each job, in the order of the trace; `nan` and -1 for one that never ran."""

    def __init__(
        self,
        trace: WorkloadTrace,
        sites: Sequence[SiteFacts],
        start: Sequence[float],
        end: Sequence[float],
        place: Sequence[int],
    ) -> None:
        self.trace = trace
        self.sites = tuple(sites)
        self.submit: Floats = np.asarray(trace.submit)
        self.start: Floats = np.asarray(start)
        self.end: Floats = np.asarray(end)
        self.place = np.asarray(place)
        self.cpus = np.asarray(trace.cpus)
        self.ran = ~np.isnan(self.end)

    @property
    def processors(self) -> int:
        """Processors of all sites."""
        return sum(site.cpus for site in self.sites)

    @property
    def makespan(self) -> float:
        """From the first submission to the last end."""
        return float(self.end[self.ran].max()) if self.ran.any() else 0.0

    @property
    def waits(self) -> Floats:
        """Seconds between submission and start of each job that ran."""
        return self.start[self.ran] - self.submit[self.ran]

    def summary(self) -> Summary:
        """The figures."""
        run, wait = self.end[self.ran] - self.start[self.ran], self.waits
        used = float((run * self.cpus[self.ran]).sum())
        room = self.processors * self.makespan
        some = run > 0
        return Summary(
            jobs=len(self.trace),
            finished=int(self.ran.sum()),
            given_up=int((~self.ran).sum()),
            sites=len(self.sites),
            cpus=self.processors,
            makespan=self.makespan,
            utilization=used / room if room else 0.0,
            wait=Spread.of(wait),
            slowdown=Spread.of((wait[some] + run[some]) / run[some]),
            bounded_slowdown=Spread.of(np.maximum(1.0, (wait + run) / np.maximum(run, SHORT))),
        )

    def shares(self) -> list[SiteShare]:
        """What each site did, the one with most jobs first."""
        where, count = self.place[self.ran], len(self.sites)
        used = (self.end - self.start)[self.ran] * self.cpus[self.ran]
        jobs = np.bincount(where, minlength=count)
        time = np.bincount(where, weights=used, minlength=count)
        shares = [
            SiteShare(
                site.name, site.cpus, int(jobs[at]), float(time[at]) / (site.cpus * (self.makespan or 1.0))
            )
            for at, site in enumerate(self.sites)
        ]
        return sorted(shares, key=lambda share: (-share.jobs, share.site))
