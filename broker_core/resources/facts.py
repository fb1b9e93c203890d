"""What a source of information says about computing elements (CB-UPD-01)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from broker_core.resources.record import Resource

SHARED_NODES = "SharesNodesWith"
"""Attribute: computing elements of the same site whose jobs run on the same nodes."""
START_ESTIMATE = "StartEstimateBy"
"""Attribute: who says when a job would start, one of `idle`, `batch system`, `history` and `guess`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One computing element as one source describes it."""

    ce: str
    """`host:port/jobmanager-lrms-queue`."""
    site: str
    """Name of the site as the user knows it."""
    attributes: Mapping[str, Any]
    """GLUE name, of either schema, to value; the counts of processors and jobs are among them."""
    static: frozenset[str] = frozenset()
    """Names of the attributes that do not change while the site stays as it is."""


@dataclass(frozen=True, slots=True)
class SourceHeard:
    """A source has answered: the message that refreshes the Resource Cache."""

    name: ClassVar[str] = "source.heard"
    source: str
    """Name of the source, one for each updater."""
    time: float
    """When the answer was made, seconds since the epoch."""
    monotonic: float
    """The same moment by the clock that never jumps; ages are counted by it."""
    facts: tuple[Facts, ...]
    complete: bool
    """It names everything that the source knows: what is missing has gone, `silent` parts excepted."""
    silent: tuple[str, ...] = ()
    """Sites of which the source heard nothing this time; only their own entries grow old (CB-UPD-02)."""
    interval: float = 120.0
    """Seconds after which the source speaks again; after three times that its entries are stale."""
    account: bool = False
    """The source is the site itself, used through an account of the user: jobs can be sent there."""
    storage: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Storage element to its attributes by GLUE name."""


def facts_of(resource: Resource) -> Facts:
    """A record as facts, for sites that describe themselves."""
    counts = {
        "GlueCEInfoTotalCPUs": resource.total_cpus,
        "GlueCEStateFreeCPUs": resource.free_cpus,
        "GlueCEStateRunningJobs": resource.running,
        "GlueCEStateWaitingJobs": resource.waiting,
    }
    return Facts(resource.ce, resource.site, resource.attributes | counts)
