"""What the broker adds to the answers of a site: its owner's bound on jobs, and how long jobs waited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from broker_core.resources.facts import START_ESTIMATE, Facts

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


def with_usual_waits(asking: Looking, usual: Callable[[str], float | None]) -> Looking:
    """The same questions; where a site can only guess when a job would start, its latest jobs tell it.

    `usual`: seconds that jobs waited at a computing element lately, by its id; None: there were none.
    """

    async def asked() -> tuple[Facts, ...]:
        return tuple(_by_history(facts, usual(facts.ce)) for facts in await asking())

    return asked


def _by_history(facts: Facts, usual: float | None) -> Facts:
    attributes: dict[str, Any] = dict(facts.attributes)
    if usual is None or attributes.get(START_ESTIMATE, "guess") != "guess":
        return facts
    attributes |= {"GlueCEStateEstimatedResponseTime": round(usual), START_ESTIMATE: "history"}
    return replace(facts, attributes=attributes)


def _bounded(facts: Facts, most: int) -> Facts:
    attributes: dict[str, Any] = dict(facts.attributes)
    for name in _COUNTS:
        value = attributes.get(name)
        if isinstance(value, int):
            attributes[name] = min(value, most)
    return replace(facts, attributes=attributes)
