"""A policy applied to all that matches a job: single computing elements, or sets of them."""

from __future__ import annotations

from dataclasses import replace

from broker_core.matching.match import Matches
from broker_core.matching.ordering import fuzzy
from broker_core.policies.guarded import arranged
from broker_core.policies.policy import Policy, Request, sets, single


def applied(policy: Policy, found: Matches) -> tuple[Matches, str]:
    """The matches in the order of the policy, without what it drops; and why the built-in order had to step
    in, empty if it had not to. Matches that come from `match` are in the built-in order already."""
    request = _request(found)
    if not found.several:
        order = arranged(policy, single(found.candidates), request)
        return replace(found, candidates=found.candidates.taken(order.places)), order.problem
    order = arranged(policy, sets(found.candidates, found.groups), request)
    groups = tuple(found.groups[place] for place in order.places)
    return found.with_groups(groups), order.problem


def _request(found: Matches) -> Request:
    job, context = found.description, found.context
    return Request(
        job.cpus,
        context.queue_limit(job.interactive),
        job.interactive,
        found.several,
        context.fuzzy_seed,
        fuzzy(job.ad) is not None,
    )
