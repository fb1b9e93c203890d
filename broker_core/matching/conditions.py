"""What the broker itself demands of a resource, besides the user's Requirements (CB-MM-02)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from broker_core.jdl.description import JobDescription
from broker_core.matching.clauses import Clause
from broker_core.matching.context import Context
from broker_core.resources.record import Resource
from broker_core.resources.tags import abilities, has_tag, most_cpus

_IN_WORDS = {
    "workflow": "graphs of jobs",
    "inter-cluster": "jobs over several sites",
    "interactive": "interactive jobs",
    "job-starter": "starters of the user",
    "prologue": "prologues",
    "epilogue": "epilogues",
}
_UNLIMITED = frozenset({0, 999999999})


def conditions(
    description: JobDescription, resource: Resource, values: Mapping[str, Any], context: Context
) -> Iterator[Clause]:
    """Every condition at one resource, the one that can least be helped first."""
    yield from _chosen(description, resource, context)
    yield from _kind(description, values, context)
    yield from _status(values)
    yield from _cpus(description, resource, values, context)
    yield from _wall_time(description, values)
    yield from _queue(resource, values, description, context)


def _clause(holds: bool, text: str, origin: str, explanation: str, now_only: bool = False) -> Clause:
    return Clause(text, "true" if holds else "false", origin, explanation, now_only and not holds)


def _chosen(description: JobDescription, resource: Resource, context: Context) -> Iterator[Clause]:
    if context.site:
        holds = context.site in (resource.site, resource.ce)
        yield _clause(holds, f"site {context.site}", "policy", f"the job may only run at {context.site}")
    target = description.ad.get("submitto") if description.ad is not None else None
    wanted = getattr(target, "value", "")
    if isinstance(wanted, str) and wanted:
        holds = wanted in (resource.site, resource.ce)
        yield _clause(holds, f"SubmitTo {wanted}", "policy", f"SubmitTo names {wanted}")


def _kind(description: JobDescription, values: Mapping[str, Any], context: Context) -> Iterator[Clause]:
    for need in description.needs:
        kind, _, name = need.partition(":")
        if kind == "mpi":
            tag = context.mpi_tags.get(name, name)
            holds = has_tag(values, tag) or need in abilities(values)
            yield _clause(holds, f"offers {tag}", "software", _offers(holds, f"the MPI implementation {tag}"))
        else:
            holds = need in abilities(values) or need in context.abilities
            what = in_words(need)
            yield _clause(holds, f"offers {what}", "kind", _offers(holds, what))


def in_words(need: str) -> str:
    """An entry of `JobDescription.needs` for people."""
    kind, _, name = need.partition(":")
    if kind == "launcher":
        return f"the launcher {name}"
    if kind == "transfer":
        return f"transfers by {name}"
    return _IN_WORDS.get(need, need)


def _offers(holds: bool, what: str) -> str:
    return f"it {'offers' if holds else 'does not offer'} {what}"


def _status(values: Mapping[str, Any]) -> Iterator[Clause]:
    status = values.get("gluecestatestatus")
    if isinstance(status, str):
        holds = status.lower() == "production"
        yield _clause(holds, "accepts jobs", "status", f"its status is {status}", now_only=True)


def _cpus(
    description: JobDescription, resource: Resource, values: Mapping[str, Any], context: Context
) -> Iterator[Clause]:
    if "inter-cluster" in description.needs or description.structure == "Workflow":
        return
    need = description.cpus
    most = most_cpus(values, resource.total_cpus)
    has = f"it has {_counted(resource.total_cpus)}"
    if most < resource.total_cpus:
        has += f", of which one job may use {most}"
    yield _clause(need <= most, f"at least {_counted(need)}", "cpus", f"{has}; {need} wanted")
    if need <= most and (description.interactive or context.batch_capacity == "free"):
        holds = need <= resource.free_cpus
        text = f"at least {_counted(need, 'free CPU')}"
        yield _clause(holds, text, "cpus", f"{resource.free_cpus} are free now; {need} wanted", now_only=True)


def _counted(count: int, noun: str = "CPU") -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _wall_time(description: JobDescription, values: Mapping[str, Any]) -> Iterator[Clause]:
    limit = values.get("gluecepolicymaxwallclocktime")
    if description.wall_limit is None or type(limit) is not int or limit in _UNLIMITED:
        return
    wanted = description.wall_limit / 60
    text = f"wall time of {wanted:g} minutes"
    yield _clause(wanted <= limit, text, "policy", f"jobs may run {limit} minutes; {wanted:g} wanted")


def _queue(
    resource: Resource, values: Mapping[str, Any], description: JobDescription, context: Context
) -> Iterator[Clause]:
    limit = values.get("gluecepolicymaxwaitingjobs")
    if type(limit) is not int or limit in _UNLIMITED or description.cpus <= resource.free_cpus:
        return
    explanation = f"{resource.waiting} jobs wait there; at most {limit} may"
    yield _clause(
        resource.waiting < limit, f"fewer than {limit} waiting", "policy", explanation, now_only=True
    )
