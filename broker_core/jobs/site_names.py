"""Short names of computing elements, for people."""

from __future__ import annotations

from functools import lru_cache

from broker_core.jobs.placement import computing_element, ids_in, listed


@lru_cache(maxsize=4096)
def site_name(ces: str) -> str:
    """Name the sites in the `site` column of a job's row: a host, or the queue of this machine.

    `ce.example.org:2119/jobmanager-pbs-long` gives `ce.example.org`;
    `localhost:2119/jobmanager-fork-local` gives `local`.
    """
    return site_names(ids_in(ces))


@lru_cache(maxsize=4096)
def site_names(ids: tuple[str, ...]) -> str:
    """Name the sites of computing elements, in their order."""
    return listed(computing_element(id).site for id in ids)
