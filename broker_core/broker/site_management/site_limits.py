"""The bound that a site's owner set on the jobs there, as the Resource Cache sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from broker_core.resources.facts import Facts

_COUNTS = ("GlueCEInfoTotalCPUs", "GlueCEStateFreeCPUs", "GlueCEPolicyAssignedJobSlots")
Looking = Callable[[], Awaitable[tuple[Facts, ...]]]


def bounded(look: Looking, most: int) -> Looking:
    """The same questions to a site, with no more processors in the answers than jobs are allowed; 0: all.

    Otherwise the scheduler would choose a place for jobs where they are not let in yet.
    """
    if not most:
        return look

    async def looked() -> tuple[Facts, ...]:
        return tuple(_bounded(facts, most) for facts in await look())

    return looked


def _bounded(facts: Facts, most: int) -> Facts:
    attributes: dict[str, Any] = dict(facts.attributes)
    for name in _COUNTS:
        value = attributes.get(name)
        if isinstance(value, int):
            attributes[name] = min(value, most)
    return replace(facts, attributes=attributes)
