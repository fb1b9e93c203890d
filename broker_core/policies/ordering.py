"""Policies for single-site jobs: from candidates to candidates in the order to be tried (CB-SCH-03)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.matching.match import Candidate
from broker_core.matching.ordering import best_fit as best_fit_key

Ordering = Callable[[Sequence[Candidate], int, int], tuple[Candidate, ...]]
"""Candidates, CPUs of the job, longest tolerated queue at a site, to the same candidates in order."""


def best_fit(candidates: Sequence[Candidate], cpus: int, max_site_queue: int) -> tuple[Candidate, ...]:
    """The built-in order (CB-SCH-04, CB-SCH-05a): rank first, then the smallest surplus of CPUs."""
    return tuple(
        sorted(candidates, key=lambda one: best_fit_key(one.resource, one.rank, cpus, max_site_queue))
    )


def worst_fit(candidates: Sequence[Candidate], cpus: int, max_site_queue: int) -> tuple[Candidate, ...]:
    """The resource with most free CPUs first (CB-SCH-11)."""
    return tuple(sorted(candidates, key=lambda one: (-one.resource.free_cpus, one.resource.ce)))


def first_fit(candidates: Sequence[Candidate], cpus: int, max_site_queue: int) -> tuple[Candidate, ...]:
    """As listed, those with enough free CPUs before the others (CB-SCH-11)."""
    return tuple(sorted(candidates, key=lambda one: one.resource.free_cpus < cpus))


ORDERINGS: dict[str, Ordering] = {"best-fit": best_fit, "worst-fit": worst_fit, "first-fit": first_fit}
"""Policies by the name under which they are chosen."""
