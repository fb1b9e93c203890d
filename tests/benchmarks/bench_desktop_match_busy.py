"""Matching and resources while the desk's own broker runs 2,000 short jobs."""

from __future__ import annotations

from tests.benchmarks import bench_desktop_match
from tests.benchmarks.figure import Figure
from tests.benchmarks.meanwhile import RunningJobs


def measure() -> list[Figure]:
    """All figures of the first form, with its bounds, and how many jobs ended meanwhile."""
    return bench_desktop_match.measure(RunningJobs)
