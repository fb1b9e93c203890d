"""One computing element as matching sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """A computing element (CB-ENV-01) with its GLUE attributes and the counts that change."""

    ce: str
    """`host:port/jobmanager-lrms-queue`."""
    site: str
    """Name of the site as the user knows it."""
    total_cpus: int
    free_cpus: int
    running: int
    waiting: int
    """Jobs in its queue."""
    updated: float
    """When this was last heard, seconds since the epoch."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """GLUE name to value: str, int, float, bool, or list of str (CB-ENV-04)."""
    committed: int = 0
    """CPUs given to jobs of this broker that `free_cpus` has been lowered by (CB-CACHE-05)."""
    access: bool = True
    """This broker has a way to send jobs there."""
