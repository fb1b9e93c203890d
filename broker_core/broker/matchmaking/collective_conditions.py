"""Conditions on sets of computing elements that were added to the program (SA-SEL-05).

Installed packages name theirs in the entry point group `crossdesk.collective_conditions`; see
`broker_core.matching.sets.collective` for what one gets and gives.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points

from broker_core.matching.sets.collective import FREE_CPUS, CollectiveCondition, SetMember, free_cpus
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.matching")
GROUP = "crossdesk.collective_conditions"
"""Entry point group of conditions."""
_SLOW = 0.05
"""Seconds for one set, of the thousands that a search may look at, after which the log names a condition."""


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
            found.setdefault(point.name, _Watched(point.name, loaded))
        else:
            log.error("The collective condition %s cannot be used: it is no function", point.name)
    return found


class _Watched:
    """A condition of somebody else's: the broker stands still while it thinks."""

    def __init__(self, name: str, condition: CollectiveCondition) -> None:
        self._name, self._condition = name, condition
        self._is_named = False

    def __call__(self, members: Sequence[SetMember], wanted: int) -> bool:
        begun = now().monotonic
        answer = self._condition(members, wanted)
        taken = now().monotonic - begun
        if taken > _SLOW and not self._is_named:
            self._is_named = True
            log.warning(
                "The collective condition %s took %.2f s for one set of %d: the broker does nothing else"
                " meanwhile. It is to answer from what it is given, without asking files or servers",
                self._name, taken, len(members),
            )  # fmt: skip
        return answer
