"""Policies applied to candidates of single-site jobs, by name (CB-SCH-03)."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.matching.candidates import Candidates
from broker_core.policies.built_in import POLICIES
from broker_core.policies.policy import Policy, Request, single

Ordering = Callable[[Candidates, int, int], Candidates]
"""Candidates, CPUs of the job, longest tolerated queue at a site, to the same candidates in order."""


def _by(policy: Policy) -> Ordering:
    def ordered(candidates: Candidates, cpus: int, max_site_queue: int) -> Candidates:
        return candidates.taken(list(policy(single(candidates), Request(cpus, max_site_queue))))

    return ordered


ORDERINGS: dict[str, Ordering] = {name: _by(policy) for name, policy in POLICIES.items()}
"""Policies by the name under which they are chosen."""
