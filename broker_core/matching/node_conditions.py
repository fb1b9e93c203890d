"""What a job asks of nodes, accounts, sites and batch systems, compared with what a site publishes of itself.

What is not published keeps no site out, with one exception: a site that says nothing of GPUs has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.jdl.resource_request import SITE_NAMES, ResourceRequest, SiteChoice
from broker_core.jdl.syntax.tree import UNDEFINED
from broker_core.matching.columnar.by_value import ByValue
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition, Holds
from broker_core.matching.node_shapes import of_nodes
from broker_core.matching.published import SYSTEM, published, text_of
from broker_core.resources.tags import TAGS, listed, shows
from broker_core.wire.sites import SITE_KINDS

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
        yield from (_unless_left_out(request, name, one) for name, one in of_nodes(request, cpus))


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
        yield published(
            f"tag {tag}",
            TAGS,
            lambda tags, tag=tag: shows(tags, tag),  # type: ignore[misc]
            lambda site, tags, tag=tag: f"{site} does not show the tag {tag}",  # type: ignore[misc]
        )


def _by_name(attribute: str, wanted: tuple[str, ...], names: str, published: tuple[str, ...]) -> Condition:
    """The resource has one of these lower-case names: in a list of its columns, or in what it publishes."""
    known = frozenset(wanted)
    shown = ", ".join(wanted[:_SHOWN]) + (", ..." if len(wanted) > _SHOWN else "")
    others = [ByValue(name, lambda text: text_of(text).lower() in known) for name in published]

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

    return published(
        f"batch system {wanted}",
        SYSTEM,
        lambda kind: _FAMILIES.get(text_of(kind).lower(), text_of(kind).lower()) == wanted,
        words,
    )


def _queue(wanted: str) -> Condition:
    return published(
        f"queue {wanted}",
        "gluecename",
        lambda name: not isinstance(name, str) or name == wanted,
        lambda site, name: f"this is the queue {name} of {site}; QueueName is {wanted}",
    )


def _queue_of_sites(request: ResourceRequest) -> Condition:
    """As `_queue`, where it counts only at sites of one kind of batch system that have such a queue."""
    wanted, usual = request.queue, _queue(request.queue)
    this = ByValue("gluecename", lambda name: name == wanted)
    foreign = ByValue(SYSTEM, lambda kind: not request.names_count_at(text_of(kind)))

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
    held = ByValue(SYSTEM, lambda kind: request.ignore_unsupported or not request.unsupported(text_of(kind)))

    def words(view: View, row: int, holds: bool) -> str:
        kind = text_of(view.pool.value(row, SYSTEM))
        missing = request.unsupported(kind)
        if not missing:
            return ""
        refusal = f"{SITE_KINDS.get(kind, SITE_KINDS['local'])} cannot give {' and '.join(missing)}"
        if holds:
            return f"{refusal}, which is left out here"
        return f"{refusal}; IgnoreUnsupported = true leaves it out"

    return Condition(f"carries {', '.join(asked)}", "kind", held.rows, words, name=SYSTEM)


def _unless_left_out(request: ResourceRequest, attribute: str, condition: Condition) -> Condition:
    """The same, which does not count where the batch system cannot give it and the job runs without."""
    if attribute in SITE_NAMES and request.names_of:
        return _where_known(request, attribute, condition)
    if not attribute or not (request.ignore_unsupported or request.options):
        return condition
    ignored = ByValue(SYSTEM, lambda kind: _left_to_site(request, attribute, text_of(kind)))

    def holds(view: View) -> Holds:
        return np.logical_or(condition.holds(view), ignored.rows(view))

    return Condition(condition.text, condition.origin, holds, condition.words)


def _left_to_site(request: ResourceRequest, attribute: str, kind: str) -> bool:
    """The job runs without it there, or asks for it in words of that batch system alone."""
    left_out = request.ignore_unsupported and attribute in request.unsupported(kind)
    return left_out or request.by_words(kind, attribute)


def _where_known(request: ResourceRequest, attribute: str, condition: Condition) -> Condition:
    """A condition on a name without which the job runs where it is not known: it only says so."""
    foreign = ByValue(SYSTEM, lambda kind: not request.names_count_at(text_of(kind)))

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
    if request.reservation:
        words = "{0} {1} is none that {2} keeps"
        yield "Reservation", _among("reservation", "reservations", request.reservation, words)
    for name, count in request.licenses:
        yield from _licenses(name, count)


def _among(noun: str, attribute: str, wanted: str, refusal: str) -> Condition:
    def words(site: str, value: Any) -> str:
        known = ", ".join(listed(value)[:_SHOWN]) or "none"
        return f"{refusal.format(noun, wanted, site)} (there: {known})"

    return published(
        f"{noun} {wanted}",
        attribute,
        lambda value: value is UNDEFINED or wanted in listed(value),
        words,
    )


def _licenses(wanted: str, count: int) -> Iterator[tuple[str, Condition]]:
    yield (
        "Licenses",
        published(
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
            published(
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

    return published(
        f"account {account} with QOS {qos}",
        "accountrules",
        lambda rules: not allowed(rules) or qos in allowed(rules),
        lambda site, rules: f"account {account} may not use QOS {qos} at {site}",
    )


def _records(types: Any) -> list[Mapping[str, Any]]:
    return [one for one in types if isinstance(one, Mapping)] if isinstance(types, list | tuple) else []


def _figure(record: Mapping[str, Any], name: str) -> int:
    value = record.get(name)
    return value if type(value) is int else 0
