"""Constants below the code that uses them, and code below the start of a program, which it never reaches."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def misplaced_statements(modules: Sequence[Module]) -> list[str]:
    return [
        f"{module.at(node)} {words}" for module in modules for node, words in _misplaced(module.tree.body)
    ]


def _misplaced(body: list[ast.stmt]) -> list[tuple[ast.stmt, str]]:
    found: list[tuple[ast.stmt, str]] = []
    defined: set[str] = set()
    for node in body:
        if isinstance(node, _Definition):
            defined.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and defined:
            names = [name for name in ast.walk(node) if isinstance(name, ast.Name)]
            if defined.isdisjoint(name.id for name in names):
                found.append((node, "is a constant below the first function or class"))
            else:
                defined.update(name.id for name in names if isinstance(name.ctx, ast.Store))
        elif _is_start(node) and node is not body[-1]:
            found.append((node, "starts the program before the file ends"))
    return found


def _is_start(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


STATEMENT_ORDER = Measure(
    "misplaced_statements",
    "constants that could stand above, and starts of a program with code below",
    0,
    misplaced_statements,
)
