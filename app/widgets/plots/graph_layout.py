"""Where the nodes of a directed graph stand: in layers, each below all that it depends on. Pure."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Edge = tuple[str, str]
"""A node, and one that waits for it."""
_NARROWEST, _SHAPE, _SWEEPS = 6, 2.0, 4


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Cells in columns and rows; a column may be a fraction, where a short row stands in the middle."""

    cells: Mapping[str, tuple[float, int]]
    """Node to its column and row."""
    columns: int
    rows: int
    against: frozenset[Edge]
    """Edges that lead back up: there is a cycle."""


def lay_out(nodes: Sequence[str], edges: Sequence[Edge]) -> GraphLayout:
    """Lay a graph out; `edges` between nodes that are not listed are left out.

    Each node stands one layer below the last of those it waits for, next to them as far as it goes. A layer
    of more nodes than a readable line holds is broken into several rows.
    """
    known = set(nodes)
    used = [edge for edge in dict.fromkeys(edges) if known.issuperset(edge)]
    against = _against(nodes, used)
    forward = [edge for edge in used if edge not in against]
    layers = _ordered(_layers(nodes, forward), forward)
    widest = max(_NARROWEST, math.ceil(math.sqrt(_SHAPE * len(nodes))))
    rows = [layer[at : at + widest] for layer in layers for at in range(0, len(layer), widest)]
    columns = max(map(len, rows), default=0)
    cells = {
        node: ((columns - len(line)) / 2 + at, row)
        for row, line in enumerate(rows)
        for at, node in enumerate(line)
    }
    return GraphLayout(cells, columns, len(rows), frozenset(against))


def _neighbors(edges: Sequence[Edge]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Who follows each node, and whom it follows."""
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for one, other in edges:
        after.setdefault(one, []).append(other)
        before.setdefault(other, []).append(one)
    return after, before


def _against(nodes: Sequence[str], edges: Sequence[Edge]) -> set[Edge]:
    """Edges that close a cycle, as a walk from the first node on meets them."""
    after, _ = _neighbors(edges)
    found: set[Edge] = set()
    done: set[str] = set()
    for root in nodes:
        under_way: set[str] = set()
        waiting = [] if root in done else [(root, iter(after.get(root, ())))]
        under_way.update(node for node, _ in waiting)
        while waiting:
            node, rest = waiting[-1]
            for other in rest:
                if other in under_way:
                    found.add((node, other))
                elif other not in done:
                    under_way.add(other)
                    waiting.append((other, iter(after.get(other, ()))))
                    break
            else:
                waiting.pop()
                under_way.discard(node)
                done.add(node)
    return found


def _layers(nodes: Sequence[str], edges: Sequence[Edge]) -> list[list[str]]:
    """Nodes by the length of the longest way to them; the edges have no cycle."""
    after, before = _neighbors(edges)
    left = {node: len(before.get(node, ())) for node in nodes}
    depth = dict.fromkeys(nodes, 0)
    ready = deque(node for node in nodes if not left[node])
    while ready:
        node = ready.popleft()
        for other in after.get(node, ()):
            depth[other] = max(depth[other], depth[node] + 1)
            left[other] -= 1
            if not left[other]:
                ready.append(other)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    return layers


def _ordered(layers: list[list[str]], edges: Sequence[Edge]) -> list[list[str]]:
    """Bring neighbors of neighboring layers below each other: each node goes to the mean of its own."""
    after, before = _neighbors(edges)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        beside, order = (before, layers) if down else (after, layers[::-1])
        at = {node: _share(nth, layer) for layer in layers for nth, node in enumerate(layer)}
        for layer in order:
            means = {
                node: sum(at[one] for one in beside[node]) / len(beside[node])
                if beside.get(node)
                else at[node]
                for node in layer
            }
            layer.sort(key=means.__getitem__)
            at.update((node, _share(nth, layer)) for nth, node in enumerate(layer))
    return layers


def _share(nth: int, layer: Sequence[str]) -> float:
    return (nth + 0.5) / len(layer)
