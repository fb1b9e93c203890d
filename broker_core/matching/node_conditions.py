"""What a job asks of nodes, accounts, sites and batch systems, compared with what a site publishes of itself.

What is not published keeps no site out, with one exception: a site that says nothing of GPUs has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.jdl.resource_request import SITE_NAMES, ResourceRequest, SiteChoice, same_model
from broker_core.jdl.syntax.tree import UNDEFINED
from broker_core.matching.columnar.by_value import ByValue
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition, Holds
from broker_core.matching.cpu_conditions import counted
from broker_core.resources.node_types import NODE_TYPES, NodeType, node_types
from broker_core.resources.tags import TAGS, listed, shows
from broker_core.wire.sites import SITE_KINDS

_SYSTEM = "glueceinfolrmstype"
_RAM = "gluehostmainmemoryramsize"
_FAMILIES = {
    "torque": "pbs",
    "openpbs": "pbs",
    "pbspro": "pbs",
    "gridengine": "sge",
    "uge": "sge",
    "ge": "sge",
}
"""Names that batch systems publish to the kind that they are of."""
_SHOWN = 4
_SITE_NAMES = ("gluesitename", "gluesiteuniqueid")
Words = Callable[[str, Any], str]
"""The reason at a site of this name, for the value that it publishes."""


def requested(description: JobDescription) -> Iterator[Condition]:
    """The conditions of a description's `ResourceRequest`, the one that can least be helped first."""
    request = description.request
    if request.queue:
        yield _queue_of_sites(request) if request.names_of else _queue(request.queue)
    given = request.given()
    if any(given.values()):
        yield _carried(request)
    yield from (_unless_left_out(request, name, one) for name, one in _of_lists(request))
    if "inter-cluster" not in description.needs:
        cpus = description.cpus
        yield from (_unless_left_out(request, name, one) for name, one in _of_nodes(request, cpus))


def named_sites(choice: SiteChoice) -> Iterator[Condition]:
    """The conditions of Site, BannedSites, GridCE, BatchSystem and Tags."""
    if choice.sites:
        yield _by_name("Site", choice.sites, "sites", _SITE_NAMES)
    if choice.banned:
        yield _none_of(_by_name("BannedSites", choice.banned, "sites", _SITE_NAMES))
    if choice.elements:
        yield _by_name("GridCE", choice.elements, "ces", ("glueceinfohostname",))
    if choice.batch_system:
        yield _batch_system(choice.batch_system)
    for tag in choice.tags:
        yield _published(
            f"tag {tag}",
            TAGS,
            lambda tags, tag=tag: shows(tags, tag),  # type: ignore[misc]
            lambda site, tags, tag=tag: f"{site} does not show the tag {tag}",  # type: ignore[misc]
        )


def _by_name(attribute: str, wanted: tuple[str, ...], names: str, published: tuple[str, ...]) -> Condition:
    """The resource has one of these lower-case names: in a list of its columns, or in what it publishes."""
    known = frozenset(wanted)
    shown = ", ".join(wanted[:_SHOWN]) + (", ..." if len(wanted) > _SHOWN else "")
    others = [ByValue(name, lambda text: _text(text).lower() in known) for name in published]

    def holds(view: View) -> Holds:
        own = getattr(view.pool.columns, names)[: view.size]
        found = np.fromiter((name.lower() in known for name in own), np.bool_, view.size)
        for one in others:
            found |= one.rows(view)
        return found

    return Condition(
        f"{attribute} {shown}", "policy", holds, lambda view, row, held: f"{attribute} names {shown}"
    )


def _none_of(condition: Condition) -> Condition:
    return replace(condition, holds=lambda view: ~condition.holds(view))


def _batch_system(wanted: str) -> Condition:
    def words(site: str, kind: Any) -> str:
        there = f"is {kind}" if isinstance(kind, str) else "is not told"
        return f"the batch system of {site} {there}; BatchSystem is {wanted}"

    return _published(
        f"batch system {wanted}",
        _SYSTEM,
        lambda kind: _FAMILIES.get(_text(kind).lower(), _text(kind).lower()) == wanted,
        words,
    )


def _queue(wanted: str) -> Condition:
    return _published(
        f"queue {wanted}",
        "gluecename",
        lambda name: not isinstance(name, str) or name == wanted,
        lambda site, name: f"this is the queue {name} of {site}; QueueName is {wanted}",
    )


def _queue_of_sites(request: ResourceRequest) -> Condition:
    """As `_queue`, where it counts only at sites of one kind of batch system that have such a queue."""
    wanted, usual = request.queue, _queue(request.queue)
    this = ByValue("gluecename", lambda name: name == wanted)
    foreign = ByValue(_SYSTEM, lambda kind: not request.names_count_at(_text(kind)))

    def holds(view: View) -> Holds:
        named: Holds = np.broadcast_to(this.rows(view) & ~foreign.rows(view), view.size)
        columns = view.pool.columns
        having = {columns.sites[row] for row in np.flatnonzero(named & columns.used[: view.size]).tolist()}
        if not having:
            return np.ones(view.size, dtype=np.bool_)
        sites = columns.sites[: view.size]
        elsewhere = np.fromiter((site not in having for site in sites), np.bool_, view.size)
        return named | elsewhere | foreign.rows(view)

    def words(view: View, row: int, held: bool) -> str:
        if held and not (this.at(view, row) and not foreign.at(view, row)):
            return f"there is no queue {wanted} here, which is left out"
        return usual.words(view, row, held)

    return Condition(usual.text, usual.origin, holds, words)


def _carried(request: ResourceRequest) -> Condition:
    """The batch system can give what is asked for, unless the description says to ignore that."""
    asked = [name for name, asked in request.given().items() if asked]
    held = ByValue(_SYSTEM, lambda kind: request.ignore_unsupported or not request.unsupported(_text(kind)))

    def words(view: View, row: int, holds: bool) -> str:
        kind = _text(view.pool.value(row, _SYSTEM))
        missing = request.unsupported(kind)
        if not missing:
            return ""
        refusal = f"{SITE_KINDS.get(kind, SITE_KINDS['local'])} cannot give {' and '.join(missing)}"
        if holds:
            return f"{refusal}, which is left out here"
        return f"{refusal}; IgnoreUnsupported = true leaves it out"

    return Condition(f"carries {', '.join(asked)}", "kind", held.rows, words, name=_SYSTEM)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _unless_left_out(request: ResourceRequest, attribute: str, condition: Condition) -> Condition:
    """The same, which does not count where the batch system cannot give it and the job runs without."""
    if attribute in SITE_NAMES and request.names_of:
        return _where_known(request, attribute, condition)
    if not (request.ignore_unsupported and attribute):
        return condition
    ignored = ByValue(_SYSTEM, lambda kind: attribute in request.unsupported(_text(kind)))

    def holds(view: View) -> Holds:
        return np.logical_or(condition.holds(view), ignored.rows(view))

    return Condition(condition.text, condition.origin, holds, condition.words)


def _where_known(request: ResourceRequest, attribute: str, condition: Condition) -> Condition:
    """A condition on a name without which the job runs where it is not known: it only says so."""
    foreign = ByValue(_SYSTEM, lambda kind: not request.names_count_at(_text(kind)))

    def words(view: View, row: int, held: bool) -> str:
        here = np.broadcast_to(condition.holds(view), view.size)[row] and not foreign.at(view, row)
        return "" if here else f"{attribute} is left out here"

    return Condition(condition.text, condition.origin, lambda view: np.asarray(True), words)


def _of_lists(request: ResourceRequest) -> Iterator[tuple[str, Condition]]:
    """Names that have to be among those that the site publishes, where it publishes any."""
    if request.account:
        yield "Account", _among("account", "accounts", request.account, "{0} {1} is not yours at {2}")
    if request.qos:
        yield "QOS", _among("QOS", "qoslist", request.qos, "{0} {1} is not yours at {2}")
    if request.account and request.qos:
        yield "QOS", _account_with_qos(request.account, request.qos)
    for feature in request.features:
        yield "Features", _among("feature", "features", feature, "no node of {2} has the {0} {1}")
    for name, count in request.licenses:
        yield from _licenses(name, count)


def _among(noun: str, attribute: str, wanted: str, refusal: str) -> Condition:
    def words(site: str, value: Any) -> str:
        known = ", ".join(listed(value)[:_SHOWN]) or "none"
        return f"{refusal.format(noun, wanted, site)} (there: {known})"

    return _published(
        f"{noun} {wanted}",
        attribute,
        lambda value: value is UNDEFINED or wanted in listed(value),
        words,
    )


def _licenses(wanted: str, count: int) -> Iterator[tuple[str, Condition]]:
    yield (
        "Licenses",
        _published(
            f"license {wanted}",
            "licenses",
            lambda value: value is UNDEFINED or wanted in listed(value),
            lambda site, value: f"{site} has no license {wanted}",
        ),
    )

    def total(value: Any) -> int | None:
        known = (one for one in _records(value) if one.get("License") == wanted)
        return next((_figure(one, "Total") for one in known), None)

    if count > 1:
        yield (
            "Licenses",
            _published(
                f"{count} of the license {wanted}",
                "licenseuse",
                lambda value: total(value) is None or (total(value) or 0) >= count,
                lambda site, value: f"{site} has {total(value)} of the license {wanted}; {count} wanted",
            ),
        )


def _account_with_qos(account: str, qos: str) -> Condition:
    def allowed(rules: Any) -> set[str]:
        return {
            name
            for one in _records(rules)
            if one.get("Account") == account
            for name in listed(one.get("QOS"))
        }

    return _published(
        f"account {account} with QOS {qos}",
        "accountrules",
        lambda rules: not allowed(rules) or qos in allowed(rules),
        lambda site, rules: f"account {account} may not use QOS {qos} at {site}",
    )


def _of_nodes(request: ResourceRequest, cpus: int) -> Iterator[tuple[str, Condition]]:
    each, memory = request.cpus_on_host(cpus), request.memory_on_host(cpus)
    if each > 1:
        yield "", _at_most("nodecpus", each, "CPU")
    if memory:
        yield "", _memory(memory)
    if request.gpus:
        yield "GPUNumber", _at_most("gpuspernode", request.gpus, "GPU", unknown=False)
    if request.gpu_model:
        yield "GPUModel", _model(request.gpu_model)
    if sum(map(bool, (each > 1, memory, request.gpus, request.features))) > 1 or request.gpu_model:
        yield "GPUNumber" if request.gpus else "", _one_node(request, each, memory)


def _at_most(attribute: str, wanted: int, noun: str, unknown: bool = True) -> Condition:
    """A node has so many; `unknown`: whether the condition holds where nothing is published."""

    def words(site: str, most: Any) -> str:
        if type(most) is not int:
            return f"{site} says nothing of {noun}s"
        return f"no node of {site} has {counted(wanted, noun)} (at most {most})"

    return _published(
        f"a node with {counted(wanted, noun)}",
        attribute,
        lambda most: unknown if type(most) is not int else most >= wanted,
        words,
    )


def _memory(wanted: int) -> Condition:
    """By the largest node, or where none is told by the memory of hosts in general."""
    largest = ByValue("nodememory", lambda size: size if type(size) is int else 0)
    usual = ByValue(_RAM, lambda size: size if type(size) is int else 0)

    def holds(view: View) -> Holds:
        known = largest.rows(view)
        here = np.where(known == 0, usual.rows(view), known)
        held: Holds = (here == 0) | (here >= wanted)
        return held

    def words(view: View, row: int, held: bool) -> str:
        here = largest.at(view, row) or usual.at(view, row)
        site = view.pool.columns.sites[row]
        return "" if held else f"no node of {site} has {wanted} MB of memory (at most {here})"

    return Condition(f"a node with {wanted} MB", "nodes", holds, words)


def _model(wanted: str) -> Condition:
    def words(site: str, models: Any) -> str:
        known = ", ".join(listed(models)[:_SHOWN])
        return f"{site} has no GPU of model {wanted}" + (f" (there: {known})" if known else "")

    return _published(
        f"GPU model {wanted}",
        "gpumodels",
        lambda models: any(same_model(wanted, one) for one in listed(models)),
        words,
    )


def _one_node(request: ResourceRequest, cpus: int, memory: int) -> Condition:
    """One kind of node has it all, where the site tells its kinds of nodes (`NodeTypes`)."""

    def fitting(types: Any) -> list[NodeType]:
        return [
            one
            for one in node_types(types)
            if one.cpus >= cpus
            and not 0 < one.memory < memory
            and set(request.features) <= set(one.features)
            and (not request.gpu_model or same_model(request.gpu_model, one.gpu_model))
        ]

    def words(site: str, types: Any) -> str:
        model = f" of model {request.gpu_model}" if request.gpu_model else ""
        most = max((one.gpus for one in fitting(types)), default=0)
        gpus = counted(request.gpus, "GPU") + model if request.gpus else ""
        if most:
            return f"no node of {site} has {gpus} (at most {most})"
        parts = [counted(cpus, "CPU"), f"{memory} MB" if memory else "", gpus, *request.features]
        return f"no node of {site} has all at once: {', '.join(filter(None, parts))}"

    return _published(
        "one node with all of it",
        NODE_TYPES.lower(),
        lambda types: not node_types(types) or any(one.gpus >= request.gpus for one in fitting(types)),
        words,
    )


def _records(types: Any) -> list[Mapping[str, Any]]:
    return [one for one in types if isinstance(one, Mapping)] if isinstance(types, list | tuple) else []


def _figure(record: Mapping[str, Any], name: str) -> int:
    value = record.get(name)
    return value if type(value) is int else 0


def _published(text: str, attribute: str, test: Callable[[Any], bool], refusal: Words) -> Condition:
    """A condition on one attribute, whose reason names the site."""
    values = ByValue(attribute, test)

    def words(view: View, row: int, held: bool) -> str:
        return "" if held else refusal(view.pool.columns.sites[row], view.pool.value(row, attribute))

    return Condition(text, "nodes", values.rows, words)
