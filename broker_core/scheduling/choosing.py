"""Which resources a demand may ever use, and which now: the one matchmaking function, remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from broker_core.resources.record import Resource
from broker_core.scheduling.capacity import Capacity
from broker_core.scheduling.demand import Demand


class Candidate(Protocol):
    """A resource that matches, as matching returns it."""

    @property
    def resource(self) -> Resource:
        """The resource."""
        ...


class Matches(Protocol):
    """The answer of matchmaking, as far as the scheduler reads it."""

    @property
    def candidates(self) -> Sequence[Candidate]:
        """Best first."""
        ...

    @property
    def rejected(self) -> Sequence[Rejected]:
        """All others."""
        ...


class Rejected(Protocol):
    """A resource that does not match, with the reason in words."""

    @property
    def resource(self) -> Resource:
        """The resource."""
        ...

    @property
    def reason(self) -> str:
        """Why not, in one sentence."""
        ...


Match = Callable[[Demand, Sequence[Resource]], Matches]
"""Matchmaking of a demand over resources: candidates in the order of policy, and why not elsewhere."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """Where a demand could run if everything were idle."""

    resources: tuple[str, ...]
    """Computing elements; empty if no known resource can ever run it."""
    reason: str
    """Why none can."""


class Chooser:
    """Asks matchmaking once for each demand and state of the resources."""

    def __init__(self, capacity: Capacity, match: Match) -> None:
        self._capacity = capacity
        self._match = match
        self._facts = -1
        self._prospects: dict[str, Prospect] = {}

    def prospect(self, demand: Demand) -> Prospect:
        """Where jobs of this demand could ever run (CB-SCH-12)."""
        if self._facts != self._capacity.facts:
            self._facts = self._capacity.facts
            self._prospects.clear()
        known = self._prospects.get(demand.key)
        if known is None:
            matches = self._match(demand, self._capacity.idle())
            resources = tuple(candidate.resource.ce for candidate in matches.candidates)
            known = Prospect(resources, "" if resources else _why_none(matches.rejected))
            self._prospects[demand.key] = known
        return known

    def choices(self, demand: Demand, excluded: set[str], now: float) -> tuple[str, ...]:
        """Computing elements that can take a job of this demand now, best first."""
        able = [
            resource
            for resource in self._capacity.now_free(now)
            if resource.ce not in excluded and self._has_room(resource, demand)
        ]
        if not able:
            return ()
        return tuple(candidate.resource.ce for candidate in self._match(demand, able).candidates)

    def _has_room(self, resource: Resource, demand: Demand) -> bool:
        cpus = demand.description.cpus
        if resource.free_cpus >= cpus or demand.description.interactive:
            return resource.free_cpus >= cpus
        return self.prospect(demand).resources == (resource.ce,) and self._capacity.ahead(resource.ce) >= cpus


def _why_none(rejected: Sequence[Rejected]) -> str:
    if not rejected:
        return "no site is known"
    reasons = {f"{refusal.resource.site}: {refusal.reason}" for refusal in rejected}
    shown = sorted(reasons)[:3]
    more = f" (and {len(reasons) - len(shown)} more)" if len(reasons) > len(shown) else ""
    return "; ".join(shown) + more
