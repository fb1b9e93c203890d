"""The answer of matching as it goes over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.matching.clauses import Clause
from broker_core.matching.explain import clauses
from broker_core.resources.record import Resource
from broker_core.wire import matches as wire

if TYPE_CHECKING:
    from broker_core.matching.match import Matches


def report(matches: Matches) -> wire.MatchReport:
    """Candidates in order, then the others with their reasons."""
    rows = [
        _row(one.resource, clauses(matches.description, one.resource, matches.context), True, one.rank)
        for one in matches.candidates
    ]
    rows += [_row(one.resource, one.clauses, False, None, one.reason) for one in matches.rejected]
    return wire.MatchReport(resources=rows, advice=matches.advice)


def _row(
    resource: Resource, found: tuple[Clause, ...], fits: bool, rank: float | None, reason: str = ""
) -> wire.MatchedResource:
    return wire.MatchedResource(
        ce=resource.ce,
        site=resource.site,
        matches=fits,
        rank=rank,
        total_cpus=resource.total_cpus,
        free_cpus=resource.free_cpus,
        waiting=resource.waiting,
        reason=reason,
        clauses=[
            wire.Clause(text=c.text, value=c.value, origin=c.origin, explanation=c.explanation)
            for c in found
        ],
    )
