"""Who imports whom: at run time (in functions too) and for types alone."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.architecture.modules import PRODUCT, Module


@dataclass
class ImportGraph:
    """The imports of the product's own modules.

    Attributes:
        run_time: for each module what it imports when it runs, wherever the statement stands.
        types: for each module what it imports under `if TYPE_CHECKING`.
    """

    run_time: dict[str, set[str]] = field(default_factory=dict)
    types: dict[str, set[str]] = field(default_factory=dict)

    def all_imports(self) -> dict[str, set[str]]:
        """Both kinds together."""
        return {name: self.run_time[name] | self.types[name] for name in self.run_time}


def import_graph(modules: Sequence[Module]) -> ImportGraph:
    """The graph of these modules; imports of others are left out."""
    return _graph(tuple(modules))


@functools.cache
def _graph(modules: tuple[Module, ...]) -> ImportGraph:
    names = {module.name for module in modules}
    graph = ImportGraph()
    for module in modules:
        run_time, types = (
            graph.run_time.setdefault(module.name, set()),
            graph.types.setdefault(module.name, set()),
        )
        for statement, checked in _statements(module.tree, checked=False):
            (types if checked else run_time).update(_targets(statement, names) - {module.name})
    return graph


def _statements(node: ast.AST, *, checked: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Import statements below `node`, each with whether only a type checker sees it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, checked
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for one in child.body:
                yield from _statements(ast.Module([one], []), checked=True)
            for one in child.orelse:
                yield from _statements(ast.Module([one], []), checked=checked)
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _statements(child, checked=checked)


def _targets(statement: ast.Import | ast.ImportFrom, names: set[str]) -> set[str]:
    """Modules that the statement loads by name; the packages above them are not counted."""
    if isinstance(statement, ast.Import):
        wanted = {alias.name for alias in statement.names}
    else:
        base = statement.module or ""
        wanted = {
            f"{base}.{alias.name}" if f"{base}.{alias.name}" in names else base for alias in statement.names
        }
    return {name for name in wanted if name in names and name.split(".")[0] in PRODUCT}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other, the largest first (Tarjan's components, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found = []
    for root in sorted(graph):
        if root in order:
            continue
        work = [(root, iter(sorted(graph[root])))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, rest = work[-1]
            for target in rest:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(graph[target]))))
                    break
                if target in on_stack:
                    low[name] = min(low[name], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == order[name]:
                    start = stack.index(name)
                    group, stack[start:] = stack[start:], []
                    on_stack.difference_update(group)
                    if len(group) > 1:
                        found.append(sorted(group))
    return sorted(found, key=lambda group: (-len(group), group))
