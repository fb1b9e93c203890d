"""What matching must know besides the description and the resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from broker_core.resources.tags import MPI_TAGS


@dataclass(frozen=True, slots=True)
class Context:
    """Settings and circumstances of one match; all defaults are those of the embedded broker."""

    site: str = ""
    """The only site (its name or computing element) that may be used; empty: any."""
    batch_capacity: str = "total"
    """What a batch job's CPUs are compared with: `total`, so that it may wait there, or `free` (CB-MM-05)."""
    max_site_queue: int = 100
    """A site with more waiting jobs comes last (CB-SCH-05a)."""
    abilities: frozenset[str] = frozenset()
    """What the broker itself can do, e.g. `workflow` (the words of `JobDescription.needs`)."""
    mpi_tags: Mapping[str, str] = field(default_factory=lambda: MPI_TAGS)
    now: float | None = None
    """Seconds since the epoch, for `time()` in expressions."""

    def queue_limit(self, interactive: bool) -> int:
        """Waiting jobs from which a site comes last; interactive jobs never queue (CB-SCH-08)."""
        return 0 if interactive else self.max_site_queue


DEFAULT = Context()
