"""The order in which candidates are tried, as a sort key: the smallest first."""

from __future__ import annotations

import math

from broker_core.resources.record import Resource


def best_fit(
    resource: Resource, rank: float | None, cpus: int, max_site_queue: int
) -> tuple[float | str, ...]:
    """Key for single-site jobs (CB-SCH-04, CB-SCH-05a): no overloaded queue, high rank, small surplus.

    A resource that is too busy now comes after those that are not; the name decides what is left.
    """
    surplus = resource.free_cpus - cpus
    overloaded = resource.waiting > max_site_queue
    lowered = math.inf if rank is None else -rank
    return overloaded, lowered, surplus < 0, abs(surplus), resource.ce
