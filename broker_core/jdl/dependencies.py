"""Who waits for whom in a graph: pairs expanded to edges, and the search for a cycle."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from broker_core.jdl.syntax.tree import Expression, ListOf, Literal, Reference

EDGES_MAX = 100_000


@dataclass(slots=True)
class Edges:
    """The expanded dependencies (CB-WF-02)."""

    pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    """(node, the one that waits for it), each once, in the order written."""
    wrong: list[tuple[Expression, str]] = field(default_factory=list)
    """Place and sentence of each thing that could not be understood."""


def edges(place: Expression, names: Mapping[str, str]) -> Edges:
    """Expand a list of pairs; `names` is lower-case node name to its spelling."""
    found = Edges()
    if not isinstance(place, ListOf):
        found.wrong.append((place, "Dependencies must be a list of pairs such as {{A, B}, {B, C}}."))
        return found
    pairs = [place] if _is_pair(place) else place.items
    for pair in pairs:
        if not isinstance(pair, ListOf) or len(pair.items) != 2:
            found.wrong.append((pair, "Each dependency is a pair such as {A, B}: B waits for A."))
            continue
        _expand(found, pair, names)
    return found


def _is_pair(place: ListOf) -> bool:
    """`{A, B}` written without the outer braces, as a single pair."""
    return len(place.items) == 2 and not any(isinstance(item, ListOf) for item in place.items)


def _expand(found: Edges, pair: ListOf, names: Mapping[str, str]) -> None:
    first, second = (_side(found, item, names) for item in pair.items)
    if len(found.pairs) + len(first) * len(second) > EDGES_MAX:
        found.wrong.append((pair, f"The graph has more than {EDGES_MAX:,} dependencies."))
        return
    for one in first:
        for other in second:
            found.pairs[one, other] = None


def _side(found: Edges, item: Expression, names: Mapping[str, str]) -> list[str]:
    result = []
    for part in item.items if isinstance(item, ListOf) else [item]:
        name = _name(part)
        if name is None or name.lower() not in names:
            shown = name or "This"
            found.wrong.append((part, f"{shown} is not the name of a node; name one of Nodes."))
        else:
            result.append(names[name.lower()])
    return result


def _name(part: Expression) -> str | None:
    if isinstance(part, Reference) and part.scope is None:
        return part.name
    return part.value if isinstance(part, Literal) and isinstance(part.value, str) else None


def cycle(pairs: Collection[tuple[str, str]]) -> list[str]:
    """The nodes of one cycle, the first repeated at the end; empty if there is none (CB-WF-01)."""
    follows: dict[str, list[str]] = {}
    for one, other in pairs:
        follows.setdefault(one, []).append(other)
    done: set[str] = set()
    for root in follows:
        if found := _cycle_from(root, follows, done):
            return found
    return []


def _cycle_from(root: str, follows: Mapping[str, list[str]], done: set[str]) -> list[str]:
    path: list[str] = []
    on_path: set[str] = set()
    waiting = [(root, False)]
    while waiting:
        node, leaving = waiting.pop()
        if leaving:
            on_path.discard(path.pop())
            done.add(node)
        elif node in on_path:
            return [*path[path.index(node) :], node]
        elif node not in done:
            path.append(node)
            on_path.add(node)
            waiting.append((node, True))
            waiting.extend((other, False) for other in follows.get(node, ()))
    return []
