"""The production scheduler as the broker assembles it: policies, matching and cache, all unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from broker_core.errors import BadRequest
from broker_core.jdl.check import check
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.policies.built_in import best_fit
from broker_core.policies.policy import Policy
from broker_core.policies.queues import FCFS, QUEUES
from broker_core.reactor.core import Core
from broker_core.reactor.reactor import Now
from broker_core.resources.facts import Facts, SourceHeard
from broker_core.resources.pool import Pool
from broker_core.scheduling.build import build
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.demand import Demand, demand_of
from broker_core.scheduling.messages import PoliciesChosen
from broker_core.simulation.site import SimulatedSite


def core(order: Policy = best_fit, queue: str = FCFS, rules: SchedulerConfig | None = None) -> Core:
    """A core of the scheduler with these policies; raises BadRequest for a queue policy that is not known."""
    if queue not in QUEUES:
        raise BadRequest(f"There is no queue policy {queue!r}.", remedy=f"There are {', '.join(QUEUES)}.")
    return Core([build(_matched, count(1).__next__, rules, PoliciesChosen(order, QUEUES[queue]()))])


def _matched(demand: Demand, pool: Pool, seed: int) -> Matches:
    return match(demand.description, pool, context=Context(site=demand.site, fuzzy_seed=seed))


def demand(cpus: int, limit: float) -> Demand:
    """What a job of a trace asks for, by way of the description that its user would have written."""
    text = f'Executable = "job"; CPUNumber = {cpus};'
    if limit > 0:
        text += f" WallTime = {limit:g};"
    checked = check(text)
    if checked.description is None:
        raise AssertionError(f"{text} has errors: {checked.diagnostics}")
    return demand_of(checked.description, text)


def report(source: str, sites: Sequence[SimulatedSite], now: Now, interval: float) -> SourceHeard:
    """What sites say of themselves; they speak again after `interval` seconds."""
    facts = tuple(map(_facts, sites))
    return SourceHeard(source, now.wall, now.monotonic, facts, True, interval=interval, account=True)


def _facts(site: SimulatedSite) -> Facts:
    facts = site.facts
    counts = {
        "GlueCEInfoTotalCPUs": facts.cpus,
        "GlueCEStateFreeCPUs": site.free + facts.busy,
        "GlueCEStateRunningJobs": site.running,
        "GlueCEStateWaitingJobs": len(site.queue),
    }
    return Facts(facts.ce, facts.name, {**facts.attributes, **counts}, frozenset(facts.attributes))
