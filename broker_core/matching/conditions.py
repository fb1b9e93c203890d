"""What the broker itself demands of a resource, besides the user's Requirements (CB-MM-02)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from broker_core.jdl.description import JobDescription, Software
from broker_core.jdl.syntax.tree import UNDEFINED
from broker_core.jobs.overlay_ways import is_open, why_preload
from broker_core.matching.columnar.by_value import JobSlots
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition, Holds, of_attribute
from broker_core.matching.context import Context, Owner
from broker_core.matching.cpu_conditions import cpus, is_limit, queue
from broker_core.matching.node_conditions import named_sites, requested
from broker_core.resources.closeness import CLOSE, near, storage_of
from broker_core.resources.tags import ABILITIES, CONTAINER, MODULE, MORE, PYTHON, TAGS, listed, named, shows

_SHOWN = 4
PUBLIC_ONLY = frozenset({"mpich-g2"})
"""Kinds of parallel jobs whose processes call each other over the sites' borders without a relay."""
BY_BROKER = "pacx-mpi"
"""That of which all that passes a border goes by way of the broker."""
_INBOUND = "gluehostnetworkadapterinboundip"
_IN_WORDS = {
    "workflow": "graphs of jobs",
    "inter-cluster": "jobs over several sites",
    "interactive": "interactive jobs",
}
_MISSING = {"interactive": ": the broker has no agent for this site yet (Help, Agents)"}
"""What is missing where a need is not offered, and what to do about it."""
_ABILITIES = ABILITIES.lower()
_RULES = "glueceaccesscontrolbaserule"


def output(description: JobDescription) -> Iterator[Condition]:
    """The condition of a description with OutputSE."""
    named = description.ad.get("outputse") if description.ad is not None else None
    wanted = getattr(named, "value", "")
    if not isinstance(wanted, str) or not wanted:
        return

    def words(view: View, row: int, held: bool) -> str:
        if held:
            return f"OutputSE {wanted} is close"
        close = sorted(storage_of({name: view.pool.value(row, name) for name in CLOSE}))
        more = f" and {len(close) - _SHOWN} more" if len(close) > _SHOWN else ""
        told = ", ".join(close[:_SHOWN]) + more if close else "no storage element"
        return f"OutputSE {wanted} is not close; {told} is"

    yield Condition(
        f"OutputSE {wanted}", "policy", lambda view: near(wanted, view.pool.columns, view.size), words
    )


def needs_public_addresses(description: JobDescription) -> bool:
    """True if every process must be reachable from the other sites."""
    return description.sub_job_type in PUBLIC_ONLY


def has_public_addresses(values: Mapping[str, Any]) -> bool:
    """True if a resource says so, in its values by lower-case name; private is to be expected (CB-ENV-03)."""
    return values.get(_INBOUND) is True


def conditions(description: JobDescription, context: Context, slots: JobSlots) -> tuple[Condition, ...]:
    """Every condition, the one that can least be helped first; `slots` limits the CPUs of one job."""
    found = [*_chosen(description, context), *named_sites(description.choice), *output(description)]
    found += [*_needs(description, context), *_provided(description.software)]
    found += _authorized(description, context)
    if "inter-cluster" in description.needs and needs_public_addresses(description):
        found.append(_public_addresses())
    if f"mpi:{BY_BROKER}" in description.needs:
        found.append(_overlay())
    return (
        *found,
        _status(),
        *cpus(description, context, slots),
        *requested(description),
        *_wall_time(description),
        queue(description),
    )


def _chosen(description: JobDescription, context: Context) -> Iterator[Condition]:
    if context.site:
        reason = f"the job may only run at {context.site}"
        yield Condition(f"site {context.site}", "policy", _at(context.site), lambda view, row, held: reason)
    target = description.ad.get("submitto") if description.ad is not None else None
    wanted = getattr(target, "value", "")
    if isinstance(wanted, str) and wanted:
        yield Condition(
            f"SubmitTo {wanted}", "policy", _at(wanted), lambda view, row, held: f"SubmitTo names {wanted}"
        )


def _at(wanted: str) -> Any:
    def holds(view: View) -> Holds:
        columns = view.pool.columns
        sites = columns.sites[: view.size]
        found = np.fromiter((site == wanted for site in sites), np.bool_, view.size)
        row = columns.row_of(wanted)
        if row is not None and row < view.size:
            found[row] = True
        return found

    return holds


def _needs(description: JobDescription, context: Context) -> Iterator[Condition]:
    for need in description.needs:
        kind, _, name = need.partition(":")
        if kind == "mpi":
            yield _software(need, context.mpi_tags.get(name, name))
        elif need == "inter-cluster" and description.application_launcher:
            continue  # its components are programs like any other, which the launcher joins
        elif not context.assume_abilities and need not in context.abilities:
            yield of_attribute(
                f"offers {in_words(need)}",
                "kind",
                _ABILITIES,
                lambda value, need=need: need in listed(value),  # type: ignore[misc]
                _offering(in_words(need), _MISSING.get(need, "")),
            )


def _software(need: str, tag: str) -> Condition:
    """By tag, or where an adapter of the broker brings the implementation along."""
    by_tag = of_attribute("", "", TAGS, lambda tags: shows(tags, tag), lambda value, held: "")
    by_adapter = of_attribute("", "", _ABILITIES, lambda value: need in listed(value), lambda v, held: "")
    words = _offering(f"the MPI implementation {tag}")
    return Condition(
        f"offers {tag}",
        "software",
        lambda view: by_tag.holds(view) | by_adapter.holds(view),
        lambda view, row, held: words(None, held),
    )


def _provided(software: Software) -> Iterator[Condition]:
    """The software of the description, where a site tells what it has; modules may bring what it lacks."""
    for name in software.modules:
        yield _module(name)
    if software.modules:
        return
    if software.container:
        yield _one_of("a container runtime", CONTAINER, lambda names: bool(names))
    if software.from_conda:
        yield _one_of("conda", PYTHON, lambda names: not {"conda", "mamba", "micromamba"}.isdisjoint(names))
    elif software.python.endswith(".toml"):
        yield _one_of("uv", PYTHON, lambda names: "uv" in names)
    elif software.python:
        yield _one_of("python3", PYTHON, lambda names: any(one[:1].isdigit() for one in names))


def _module(wanted: str) -> Condition:
    def holds(tags: Any) -> bool:
        names = named(tags, MODULE)
        return names is None or MORE in names or any(f"{one}/".startswith(f"{wanted}/") for one in names)

    def words(tags: Any, held: bool) -> str:
        names = named(tags, MODULE)
        if names is None or held:
            return f"it has the module {wanted}" if names else ""
        family = f"{wanted.partition('/')[0]}/"
        close = [one for one in names if one.startswith(family)]
        there = (
            f" (there is {', '.join(close[:_SHOWN])}{', ...' if len(close) > _SHOWN else ''})"
            if close
            else ""
        )
        return f"it has no module {wanted}{there}"

    return of_attribute(f"module {wanted}", "software", TAGS, holds, words)


def _one_of(what: str, kind: str, suits: Callable[[tuple[str, ...]], bool]) -> Condition:
    """A condition on the names of a kind of software, which holds where they are not known."""

    def holds(tags: Any) -> bool:
        names = named(tags, kind)
        return names is None or suits(names)

    def words(tags: Any, held: bool) -> str:
        if named(tags, kind) is None:
            return ""
        return f"it has {what}" if held else f"it has {'no ' + what.removeprefix('a ')}"

    return of_attribute(what, "software", TAGS, holds, words)


def in_words(need: str) -> str:
    """An entry of `JobDescription.needs` for people."""
    kind, _, name = need.partition(":")
    if kind == "launcher":
        return f"the launcher {name}"
    if kind == "transfer":
        return f"transfers by {name}"
    return _IN_WORDS.get(need, need)


def _offering(what: str, missing: str = "") -> Any:
    return lambda value, held: f"it offers {what}" if held else f"it does not offer {what}{missing}"


def _authorized(description: JobDescription, context: Context) -> Iterator[Condition]:
    """Against the rules that grid sites publish; a site that the owner uses by an account publishes none.

    The organisations of the owner's credential are decisive; without one, what the description names is.
    """
    owner = context.owner or _named_owner(description)
    if owner is None:
        return
    mine = ", ".join(sorted(owner.vos | owner.groups)) or "no virtual organisation"

    def holds(rules: Any) -> bool:
        return not listed(rules) or any(_admits(rule, owner.vos, owner.groups) for rule in listed(rules))

    def words(rules: Any, held: bool) -> str:
        told = listed(rules)
        if not told:
            return ""
        shown = ", ".join(told[:_SHOWN]) + (", ..." if len(told) > _SHOWN else "")
        return f"it lets in {shown}; the job's owner is of {mine}"

    yield of_attribute("lets the owner in", "authorisation", _RULES, holds, words)


def _named_owner(description: JobDescription) -> Owner | None:
    named = description.ad.get("virtualorganisation") if description.ad is not None else None
    vo = getattr(named, "value", "")
    return Owner(frozenset({vo})) if isinstance(vo, str) and vo else None


def _admits(rule: str, vos: frozenset[str], groups: frozenset[str]) -> bool:
    """True if a rule `VO:name`, `VOMS:/group/Role=name` or a bare name is for one of these."""
    kind, colon, name = rule.partition(":")
    if not colon:
        return rule in vos
    if kind.upper() == "VO":
        return name in vos
    if kind.upper() != "VOMS":
        return False
    wanted = name.removesuffix("/*")
    return any(group == wanted or group.startswith(f"{wanted}/") for group in groups)


def _public_addresses() -> Condition:
    def words(value: Any, held: bool) -> str:
        return f"its nodes {'can' if held else 'cannot'} be reached from other sites"

    return of_attribute(
        "public addresses", "kind", _INBOUND, lambda value: has_public_addresses({_INBOUND: value}), words
    )


def _overlay() -> Condition:
    """Where a test job has told; nobody else knows."""

    def words(value: Any, held: bool) -> str:
        if not held:
            return f"a test job there says: {value}"
        why = why_preload(value) if isinstance(value, str) else ""
        return f"its nodes have no network namespaces ({why}), but a library takes their place" if why else ""

    return of_attribute("networks of programs", "software", "overlay", is_open, words)


def _status() -> Condition:
    return of_attribute(
        "accepts jobs",
        "status",
        "gluecestatestatus",
        lambda status: not isinstance(status, str) or status.lower() == "production",
        lambda status, held: "" if status is UNDEFINED else f"its status is {status}",
        now_only=True,
    )


def _wall_time(description: JobDescription) -> Iterator[Condition]:
    if description.wall_limit is None:
        return
    wanted = description.wall_limit / 60

    def words(limit: Any, held: bool) -> str:
        return f"jobs may run {limit} minutes; {wanted:g} wanted" if is_limit(limit) else ""

    yield of_attribute(
        f"wall time of {wanted:g} minutes",
        "policy",
        "gluecepolicymaxwallclocktime",
        lambda limit: not is_limit(limit) or wanted <= limit,
        words,
    )
