"""What the job of a node has from the graph or collection that it is part of."""

from __future__ import annotations

from broker_core.jdl.syntax.rewrite import rewritten
from broker_core.jdl.syntax.tree import Ad, Entry, Expression, ListOf, Literal, Reference, Subscript, walk

INHERITED = (
    "rank",
    "requirements",
    "retrycount",
    "shallowretrycount",
    "perusalfileenable",
    "submitto",
    "inputsandboxbaseuri",
    "shortdeadlinejob",
    "expirytime",
    "voms_fqan",
    "fuzzyrank",
    "inputsandbox",
    "outputsandbox",
    "usertags",
    "jobgroup",
    "site",
    "bannedsites",
    "gridce",
    "batchsystem",
    "tags",
    "cerequirements",
    "replicacatalog",
    "fuzzy_factor",
)
"""Attributes of the whole that hold for a node which has none of its own."""
FORCED = ("virtualorganisation", "hlrlocation", "myproxyserver", "jobprovenance")
"""Attributes of the whole that hold for every node, whatever it says."""
_OF_THE_NODE = frozenset({"nodename", "description"})


def whole_job(whole: Ad, node: Ad) -> Ad:
    """The job of a node as a description of its own: with what it inherits, and without `root.`."""
    entries: dict[str, Entry] = {key: entry for key, entry in node.entries.items() if key not in _OF_THE_NODE}
    for key in INHERITED:
        if key in whole.entries and key not in entries:
            entries[key] = whole.entries[key]
    for key in FORCED:
        if key in whole.entries:
            entries[key] = whole.entries[key]
    found = {key: _resolved(entry, whole) for key, entry in entries.items()}
    return Ad(found, start=node.start, end=node.end)


def root_references(node: Expression) -> list[Reference]:
    """Every `root.Name` in an expression."""
    return [part for part in walk(node) if isinstance(part, Reference) and _of_root(part)]


def _resolved(entry: Entry, whole: Ad) -> Entry:
    if not root_references(entry.value):
        return entry
    places = entry.name_end, entry.value_start, entry.value_end, entry.end
    return Entry(entry.name, _value(entry.value, whole), entry.start, *places)


def _value(node: Expression, whole: Ad) -> Expression:
    """The expression with what the whole has in place of `root.Name` and `root.Name[i]`."""
    if isinstance(node, Subscript):
        base = _value(node.base, whole)
        place = node.index.value if isinstance(node.index, Literal) else None
        if isinstance(base, ListOf) and type(place) is int and 0 <= place < len(base.items):
            return base.items[place]
    if isinstance(node, ListOf):
        return ListOf(
            [part for item in node.items for part in _items(item, whole)], start=node.start, end=node.end
        )
    return rewritten(node, lambda part: _named(part, whole))


def _items(item: Expression, whole: Ad) -> list[Expression]:
    """What an item of a list stands for: a list of the whole becomes several items."""
    value = _value(item, whole)
    return value.items if isinstance(item, Reference) and isinstance(value, ListOf) else [value]


def _named(part: Literal | Reference, whole: Ad) -> Expression:
    found = whole.get(part.name) if isinstance(part, Reference) and _of_root(part) else None
    return part if found is None else found


def _of_root(node: Reference) -> bool:
    scope = node.scope
    return isinstance(scope, Reference) and scope.scope is None and scope.name.lower() == "root"
