"""Settings of the language and of matching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from broker_core.resources.tags import MPI_TAGS, SLOTS_TAG
from broker_core.settings.field import setting

BATCH_CAPACITIES = ("total", "free")
SET_MODES = ("minimal", "listing", "incremental")


@dataclass(frozen=True)
class MatchSettings:
    """How descriptions are read, and what a resource must offer."""

    batch_capacity: str = setting(
        "total", "CPUs of a site that a batch job is compared with: total or free", choices=BATCH_CAPACITIES
    )
    max_site_queue: int = setting(100, "with more waiting jobs than this a site comes last")
    set_matching: str = setting(
        "minimal", "how sets of sites are sought: minimal, listing or incremental", choices=SET_MODES
    )
    max_ces_per_set: int = setting(4, "most computing elements that one job may be spread over")
    max_groups: int = setting(1000, "most sets of computing elements that are listed for a job")
    slots_tag: str = setting(
        SLOTS_TAG, "pattern of the tag that limits the CPUs of a job, with queue and count", pattern=True
    )
    mpi_tags: Mapping[str, str] = setting(dict(MPI_TAGS), "tag that a site must show for each kind of MPI")
