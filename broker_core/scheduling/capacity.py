"""Who has how many free processors now, by the cache and by what was given out since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from broker_core.resources.record import Resource
from broker_core.resources.values import idle
from broker_core.scheduling.rules import Rules


@dataclass(slots=True)
class _Trouble:
    failures: int
    until: float


class Capacity:
    """The known resources with the scheduler's own commitments taken off.

    A commitment counts from the choice of a resource until its attempt is over, so that a cache which
    is a little old can never make the same processor be given out twice.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._resources: dict[str, Resource] = {}
        self._foreign: dict[str, int] = {}
        self._given: Counter[str] = Counter()
        self._trouble: dict[str, _Trouble] = {}
        self.facts = 0
        """Rises when something else than the counts of a resource changed."""

    def refresh(self, resources: Iterable[Resource]) -> None:
        """Take over what the cache says; processors in use that are not ours belong to others."""
        fresh = {resource.ce: resource for resource in resources}
        if _lasting(fresh) != _lasting(self._resources):
            self.facts += 1
        self._resources = fresh
        for ce, resource in fresh.items():
            used = resource.total_cpus - resource.free_cpus
            self._foreign[ce] = max(0, used - self._given[ce])

    def take(self, ce: str, cpus: int) -> None:
        """Commit processors."""
        self._given[ce] += cpus

    def give_back(self, ce: str, cpus: int) -> None:
        """Free processors that were committed."""
        self._given[ce] -= cpus

    def failed(self, ce: str, now: float, *, counts: bool = True) -> None:
        """Leave a resource alone for a while, longer with each failure that counts (CB-ERR-1, CB-ERR-2)."""
        failures = (self._trouble[ce].failures if ce in self._trouble else 0) + counts
        wait = min(self._rules.temp_bad_period, self._rules.first_bad_period * 4.0 ** max(0, failures - 1))
        self._trouble[ce] = _Trouble(failures, now + wait)

    def worked(self, ce: str) -> None:
        """A resource took an attempt: its failures are forgotten."""
        self._trouble.pop(ce, None)

    def free(self, ce: str) -> int:
        """Free processors of a resource; 0 if it is not known any more."""
        resource = self._resources.get(ce)
        if resource is None:
            return 0
        return max(0, resource.total_cpus - self._foreign[ce] - self._given[ce])

    def ahead(self, ce: str) -> float:
        """Processors of a resource that may be given out now, its queue included."""
        resource = self._resources.get(ce)
        if resource is None:
            return 0.0
        total = resource.total_cpus
        return total * (1 + self._rules.queue_ahead) - self._foreign[ce] - self._given[ce]

    def now_free(self, now: float) -> list[Resource]:
        """Resources that may be used now, with what is free of them."""
        return [
            replace(resource, free_cpus=self.free(ce))
            for ce, resource in self._resources.items()
            if not self._left_alone(ce, now)
        ]

    def idle(self) -> list[Resource]:
        """All known resources as if nothing ran there: what they could ever offer (CB-SCH-12)."""
        return [idle(resource) for resource in self._resources.values()]

    def troubled(self, now: float) -> list[str]:
        """Resources that are left alone now."""
        return [ce for ce in self._resources if self._left_alone(ce, now)]

    def next_trial(self, now: float) -> float | None:
        """When the first resource that is left alone may be tried again."""
        return min((trouble.until for trouble in self._trouble.values() if trouble.until > now), default=None)

    def _left_alone(self, ce: str, now: float) -> bool:
        trouble = self._trouble.get(ce)
        return trouble is not None and now < trouble.until


def _lasting(resources: dict[str, Resource]) -> dict[str, object]:
    return {
        ce: (resource.site, resource.total_cpus, resource.attributes) for ce, resource in resources.items()
    }
