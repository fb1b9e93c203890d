"""Graphs of jobs and collections: structure, nodes and dependencies (CB-WF-01, CB-WF-02, conventions)."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.jdl.attributes.known import ATTRIBUTES, NOT_NEEDED, WITHOUT_EFFECT
from broker_core.jdl.dependencies import Edges, cycle, edges
from broker_core.jdl.description import JobDescription
from broker_core.jdl.inheritance import FORCED, INHERITED, root_references, whole_job
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tree import Ad, Entry, Expression, ListOf

NODES_MAX = 10_000
_RESERVED = frozenset({"dependencies", "max_running_nodes", "node_type", "node_retry_count", "app_exit_code"})
_OF_THE_WHOLE = frozenset({*INHERITED, *FORCED, *WITHOUT_EFFECT, *NOT_NEEDED, "type", "nodes", "jobname"})
"""Attributes with an effect or a word of their own in a graph or collection as a whole."""
CheckAd = Callable[[Reading], JobDescription | None]


def check(reading: Reading, check_ad: CheckAd) -> None:
    """Complain about all that is wrong with the nodes and what they depend on."""
    node = reading.node("nodes")
    if node is None:
        reading.error(
            "missing-nodes",
            "Nodes is missing; write the jobs of the graph into it.",
            "Nodes",
            reading.node("type"),
        )
        return
    nodes = _nodes(reading, node)
    if not nodes or len(nodes) > NODES_MAX:
        reading.error("node-count", f"Nodes needs 1 to {NODES_MAX:,} jobs.", "nodes")
    for name, ad in nodes.items():
        _node(reading, name, ad, check_ad)
    _not_for_nodes(reading, node)
    _dependencies(reading, node, nodes)


def _not_for_nodes(reading: Reading, nodes: Expression) -> None:
    """What the whole says and no node has from it has no effect."""
    read = {part.name.lower() for part in root_references(nodes)}
    for key, entry in reading.ad.entries.items():
        if key in ATTRIBUTES and ATTRIBUTES[key].place == "job" and key not in _OF_THE_WHOLE | read:
            message = (
                f"No node has {entry.name} of the whole, so it has no effect here; write it in each node."
            )
            reading.warning("not-for-nodes", message, key)


def _nodes(reading: Reading, node: Expression) -> dict[str, Ad]:
    if isinstance(node, ListOf):
        return _collection(reading, node)
    found = {}
    for entry in node if isinstance(node, Ad) else ():
        if entry.name.lower() in _RESERVED:
            continue
        if isinstance(entry.value, Ad):
            found[entry.name] = entry.value
        else:
            reading.error(
                "node-not-ad",
                f"Node {entry.name} must be an ad; write it as [ description = [ ... ]; ].",
                "nodes",
                entry.value,
            )
    return found


def _collection(reading: Reading, node: ListOf) -> dict[str, Ad]:
    found: dict[str, Ad] = {}
    for index, item in enumerate(node.items):
        if not isinstance(item, Ad):
            continue
        name = Reading(item, reading.findings).string("nodename") or f"Node_{index}"
        if name in found:
            reading.error("duplicate-node", f"Two nodes are called {name}; rename one.", "nodes", item)
        if "file" in item.entries and (more := item.entries.keys() - {"file", "nodename", "description"}):
            names = ", ".join(sorted(item.entries[key].name for key in more))
            message = f"Node {name} has its description in a file; move {names} into it."
            reading.error("node-file-alone", message, "nodes", item)
        if "file" not in item.entries and "description" not in item.entries:
            item = Ad({"description": _as_description(item)}, start=item.start, end=item.end)
        found[name] = item
    return found


def _as_description(ad: Ad) -> Entry:
    return Entry("description", ad, ad.start, ad.start, ad.start, ad.end, ad.end)


def _node(reading: Reading, name: str, ad: Ad, check_ad: CheckAd) -> None:
    inline, file = ad.get("description"), ad.get("file")
    if (inline is None) == (file is None):
        which = "both" if inline else "neither"
        message = f"Node {name} needs either description or file; it has {which}."
        reading.error("node-description", message, "nodes", ad)
    elif isinstance(inline, Ad):
        _job(reading, name, inline, check_ad)
    elif inline is not None:
        reading.error("wrong-type", f"The description of node {name} must be an ad.", "nodes", inline)
    _counts(reading, name, ad)


def _job(reading: Reading, name: str, node: Ad, check_ad: CheckAd) -> None:
    """Check the job of a node with what it inherits; what the whole says has been checked already."""
    budget = reading.findings.budget
    if budget.inherited < 0:
        return
    job = whole_job(reading.ad, node)
    inherited = job.entries.keys() - node.entries.keys()
    inner = Reading(job, reading.findings, reading.files, reading.limits, name, inherited)
    for entry in job:
        for part in root_references(entry.value):
            message = f"The whole description has no {part.name} for root.{part.name}; write it there."
            inner.error("root-reference", message, entry.name.lower(), part)
    budget.inherited -= sum(
        len(entry.value.items)
        for key, entry in job.entries.items()
        if isinstance(entry.value, ListOf) and entry is not node.entries.get(key)
    )
    if budget.inherited < 0:
        message = "The nodes inherit too many files in all; give each node the files that it needs."
        reading.error("too-much-inherited", message, "nodes", node)
        return
    check_ad(inner)


def _counts(reading: Reading, name: str, ad: Ad) -> None:
    inner = Reading(ad, reading.findings, inside=name)
    if inner.has("node_retry_count"):
        count = inner.integer("node_retry_count")
        if count is None or count < 0:
            inner.error("count-too-small", "node_retry_count must be 0 or more.", "node_retry_count")
    codes = inner.node("app_exit_code")
    if codes is not None and not isinstance(codes, ListOf):
        inner.error("wrong-type", "app_exit_code must be a list of whole numbers.", "app_exit_code")


def _dependencies(reading: Reading, node: Expression, nodes: dict[str, Ad]) -> None:
    place = reading.node("dependencies") or (node.get("dependencies") if isinstance(node, Ad) else None)
    if place is None:
        return
    found: Edges = edges(place, {name.lower(): name for name in nodes})
    for at, message in found.wrong:
        reading.error("dependency", message, "dependencies", at)
    if around := cycle(found.pairs):
        message = f"The graph has a cycle: {' -> '.join(around)}; take one of these dependencies out."
        reading.error("cycle", message, "dependencies", place)
