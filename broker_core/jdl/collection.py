"""Collections: independent jobs in one description, each with what it inherits from the whole."""

from __future__ import annotations

from broker_core.jdl.inheritance import whole_job
from broker_core.jdl.syntax.tree import Ad, ListOf, Literal
from broker_core.jdl.syntax.write import write


def is_collection(ad: Ad) -> bool:
    """True for `Type = "Collection"`, whatever the case."""
    return _text(ad, "type").lower() == "collection"


def nodes(ad: Ad) -> list[tuple[str, Ad]]:
    """Name and ad of each node, in order; one without a name is called Node_ and its number from 0."""
    written = ad.get("nodes")
    if isinstance(written, Ad):
        return [(entry.name, entry.value) for entry in written if isinstance(entry.value, Ad)]
    items = written.items if isinstance(written, ListOf) else []
    ads = [item for item in items if isinstance(item, Ad)]
    return [(_text(item, "nodename") or f"Node_{number}", item) for number, item in enumerate(ads)]


def job_of(node: Ad) -> Ad | None:
    """The job's own attributes in a node; None where they are in a file."""
    inner = node.get("description")
    if isinstance(inner, Ad):
        return inner
    return None if "file" in node.entries else node


def children(ad: Ad) -> list[tuple[str, str | None]]:
    """Name and description of each node's job, as text of its own; None where it is in a file."""
    return [(name, _child(ad, job_of(node))) for name, node in nodes(ad)]


def _child(whole: Ad, node: Ad | None) -> str | None:
    return None if node is None else write(whole_job(whole, node))


def _text(ad: Ad, key: str) -> str:
    value = ad.get(key)
    return value.value if isinstance(value, Literal) and isinstance(value.value, str) else ""
