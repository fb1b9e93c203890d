"""Conditions on sets of computing elements that were added to the program (SA-SEL-05).

Installed packages name theirs in the entry point group `crossdesk.collective_conditions`; see
`broker_core.matching.sets.collective` for what one gets and gives.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

from broker_core.matching.sets.collective import FREE_CPUS, CollectiveCondition, free_cpus

log = logging.getLogger("crossdesk.matching")
GROUP = "crossdesk.collective_conditions"
"""Entry point group of conditions."""


@cache
def collective_conditions() -> Mapping[str, CollectiveCondition]:
    """All conditions by name, the built-in one first; one that does not load is named in the log, and left
    out."""
    found: dict[str, CollectiveCondition] = {FREE_CPUS: free_cpus}
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        try:
            loaded = point.load()
        except Exception:
            log.exception("The collective condition %s cannot be loaded", point.name)
            continue
        if callable(loaded):
            found.setdefault(point.name, loaded)
        else:
            log.error("The collective condition %s cannot be used: it is no function", point.name)
    return found
