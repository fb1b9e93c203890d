"""The production scheduler as the broker assembles it: policies, matching and cache, all unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

from broker_core.errors import BadRequest
from broker_core.jdl.check import check
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.policies.ordering import ORDERINGS
from broker_core.resources.record import Resource
from broker_core.scheduling.demand import Demand, demand_of
from broker_core.scheduling.messages import ResourcesRefreshed
from broker_core.scheduling.rules import Rules
from broker_core.scheduling.scheduler import Scheduler
from broker_core.simulation.site import Site

POLICIES = tuple(sorted(ORDERINGS))
"""Names of the policies there are."""
DEFAULT_POLICY = "best-fit"


def scheduler(policy: str) -> Scheduler:
    """A scheduler that orders candidates by a policy; raises BadRequest for an unknown one."""
    if policy not in ORDERINGS:
        known = ", ".join(sorted(ORDERINGS))
        raise BadRequest(f"There is no policy {policy!r}.", remedy=f"Policies: {known}.")
    positions = count(1)
    return Scheduler(_matchmaker(policy), lambda: next(positions), Rules())


def _matchmaker(policy: str) -> Callable[[Demand, Sequence[Resource]], Matches]:
    ordering = ORDERINGS[policy]

    def match_demand(demand: Demand, resources: Sequence[Resource]) -> Matches:
        context = Context(site=demand.site)
        found = match(demand.description, resources, context=context)
        queue = context.queue_limit(demand.description.interactive)
        return replace(found, candidates=ordering(found.candidates, demand.description.cpus, queue))

    return match_demand


def demand(cpus: int, limit: float) -> Demand:
    """What a job of a trace asks for, by way of the description that its user would have written."""
    text = f'Executable = "job"; CPUNumber = {cpus};'
    if limit > 0:
        text += f" WallTime = {limit:g};"
    checked = check(text)
    if checked.description is None:
        raise AssertionError(f"{text} has errors: {checked.diagnostics}")
    return demand_of(checked.description, text)


def report(sites: Sequence[Site], time: float) -> ResourcesRefreshed:
    """What the sites say of themselves."""
    return ResourcesRefreshed(tuple(_resource(site, time) for site in sites))


def _resource(site: Site, time: float) -> Resource:
    facts = site.facts
    running = facts.cpus - site.free
    return Resource(
        facts.ce, facts.name, facts.cpus, site.free, running, len(site.queue), time, dict(facts.attributes)
    )
