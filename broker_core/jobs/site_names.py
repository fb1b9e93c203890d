"""Short names of computing elements, for people."""

from __future__ import annotations

from functools import lru_cache

THIS_MACHINE = "localhost"
"""Host part of the computing elements of this machine: no other site can be called so."""


@lru_cache(maxsize=4096)
def site_name(ces: str) -> str:
    """Name the sites of `JobRecord.site` (CE ids joined with `, `): a host, or the queue of this machine.

    `ce.example.org:2119/jobmanager-pbs-long` gives `ce.example.org`;
    `localhost:2119/jobmanager-fork-local` gives `local`.
    """
    return ", ".join(_short(ce) for ce in ces.split(", ")) if ces else ""


def _short(ce: str) -> str:
    host, _, rest = ce.partition(":")
    return (rest.rpartition("-")[2] or ce) if host == THIS_MACHINE else host
