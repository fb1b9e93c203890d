"""Where a description can run, in which order, and why not elsewhere: one function for all who ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from broker_core.jdl.description import JobDescription
from broker_core.jdl.evaluate import evaluate
from broker_core.jdl.operators import truth
from broker_core.jdl.values import is_number
from broker_core.matching import report as reporting
from broker_core.matching.advice import advise
from broker_core.matching.clauses import Clause
from broker_core.matching.conditions import conditions
from broker_core.matching.context import DEFAULT, Context
from broker_core.matching.explain import clauses
from broker_core.matching.ordering import best_fit
from broker_core.resources.record import Resource
from broker_core.resources.values import values
from broker_core.wire.matches import MatchReport


@dataclass(frozen=True, slots=True)
class Candidate:
    """A resource that matches."""

    resource: Resource
    rank: float | None
    """The job's Rank there; 0.0 without one, None where it is no number (CB-MM-04)."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A resource that does not match."""

    resource: Resource
    reason: str
    """In one sentence."""
    clauses: tuple[Clause, ...]
    """The broker's conditions, then the clauses of Requirements, with their values there."""
    now_only: bool
    """It would match if it were idle and in production; else it never can."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The answer for one description."""

    description: JobDescription
    context: Context
    candidates: tuple[Candidate, ...]
    """Best first (CB-SCH-05a)."""
    rejected: tuple[Rejected, ...]
    """Those nearest to matching first."""
    advice: str = ""
    """The smallest change that would make it match; empty if it does."""

    @property
    def feasible(self) -> bool:
        """Some known resource can run it, now or when it is idle (CB-SCH-12)."""
        return bool(self.candidates) or any(one.now_only for one in self.rejected)

    def report(self) -> MatchReport:
        """As shown to users, with the clauses of the candidates too."""
        return reporting.report(self)


def match(
    description: JobDescription, resources: Iterable[Resource], *, context: Context = DEFAULT
) -> Matches:
    """Match one description with resources (CB-MM-01 to CB-MM-05); pure, and never raises."""
    candidates: list[Candidate] = []
    rejected: list[Rejected] = []
    for resource in resources:
        if fits(description, resource, context):
            candidates.append(Candidate(resource, rank(description, resource, context)))
        else:
            rejected.append(_rejected(description, resource, context))
    rejected.sort(key=_distance)
    return Matches(
        description,
        context,
        ordered(description, candidates, context),
        tuple(rejected),
        "" if candidates else advise(description, rejected),
    )


def fits(description: JobDescription, resource: Resource, context: Context = DEFAULT) -> bool:
    """True if the resource meets every condition; nothing is explained."""
    met = values(resource)
    if not all(clause.holds for clause in conditions(description, resource, met, context)):
        return False
    wanted = description.ad.get("requirements") if description.ad is not None else None
    return wanted is None or truth(evaluate(wanted, description.ad, met, now=context.now)) is True


def rank(description: JobDescription, resource: Resource, context: Context = DEFAULT) -> float | None:
    """The job's Rank at a resource; 0.0 without one, None where it is no number."""
    wanted = description.ad.get("rank") if description.ad is not None else None
    if wanted is None:
        return 0.0
    value = evaluate(wanted, description.ad, values(resource), now=context.now)
    return float(value) if is_number(value) and value == value else None


def ordered(
    description: JobDescription, candidates: Sequence[Candidate], context: Context
) -> tuple[Candidate, ...]:
    """The candidates in the order in which they should be tried."""
    queue_limit = context.queue_limit(description.interactive)
    return tuple(
        sorted(candidates, key=lambda one: best_fit(one.resource, one.rank, description.cpus, queue_limit))
    )


def _rejected(description: JobDescription, resource: Resource, context: Context) -> Rejected:
    found = clauses(description, resource, context)
    wrong = [clause for clause in found if not clause.holds]
    lasting = [clause for clause in wrong if not clause.now_only]
    first = (lasting or wrong)[0]
    return Rejected(resource, first.explanation, found, not lasting)


def _distance(one: Rejected) -> tuple[bool, int, str]:
    return not one.now_only, sum(not clause.holds for clause in one.clauses), one.resource.ce
