"""What the jobs that the desk shows have used, and why some of them failed: by site, by day, by reason."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.stores.slices import breathe, parts
from broker_core.jobs.outcome import Outcome, failure_cause, outcome_of
from broker_core.jobs.site_names import site_name

if TYPE_CHECKING:
    from app.stores.jobs import JobStore

HOUR = 3600.0
DAYS = 14
"""Days that the plot of use shows."""


@dataclass(slots=True)
class SiteUse:
    """What jobs did at one site."""

    jobs: int = 0
    """Those whose last run was there."""
    failed: int = 0
    cpu_seconds: float = 0.0
    """Run times of all runs, multiplied by the CPUs that they had."""


@dataclass(slots=True)
class Usage:
    """Use of all runs that were not removed, each where and on the day when it started, and how the jobs came
    out: one that was run again within its batch counts as its last run."""

    sites: dict[str, SiteUse] = field(default_factory=dict)
    days: Counter[datetime.date] = field(default_factory=Counter)
    """Local day to CPU seconds, rounded."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why jobs failed, to their number."""

    @property
    def cpu_hours(self) -> float:
        """All CPU hours."""
        return sum(one.cpu_seconds for one in self.sites.values()) / HOUR

    def count(
        self, columns: Mapping[str, Sequence[Any]], runs: Iterable[int], jobs: Container[int], now: float
    ) -> None:
        """Add runs by the numbers of their rows; `now`: seconds since the epoch, the end of what goes on.

        `jobs`: those of them that stand for their jobs (JobStore.counting).
        """
        for row in runs:
            state = columns["state"][row]
            if not state:
                continue
            code, started = columns["exit_code"][row], columns["started"][row]
            counts = row in jobs
            failed = counts and outcome_of(state, code) is Outcome.FAILED
            if failed:
                reason = failure_cause(state, code, columns["signal"][row], columns["reason"][row] or "")
                self.reasons[reason or "no reason recorded"] += 1
            elements = columns["site"][row]
            if not elements:
                continue
            site = self.sites.setdefault(site_name(elements), SiteUse())
            site.jobs += counts
            site.failed += failed
            if started is not None:
                used = max(0.0, (columns["ended"][row] or now) - started) * (columns["cpus"][row] or 1)
                site.cpu_seconds += used
                self.days[datetime.datetime.fromtimestamp(started).date()] += round(used)

    def last_days(self, today: datetime.date) -> list[tuple[str, float]]:
        """The days of the plot with their CPU hours, oldest first."""
        shown = [today - datetime.timedelta(days=ago) for ago in reversed(range(DAYS))]
        return [(f"{day:%d %b}", round(self.days[day] / HOUR, 2)) for day in shown]


async def usage_of(jobs: JobStore, now: float) -> Usage:
    """Count all jobs that the desk knows, in slices."""
    found = Usage()
    for runs in parts(jobs.numbers()):
        found.count(jobs.columns, runs, set(jobs.counting(runs)), now)
        await breathe()
    return found
