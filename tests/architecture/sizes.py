"""Files and functions too long to be read at a stretch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module
from tests.packaging.sources import ROOT, python_files

MOST_FILE_LINES = 400
MOST_FUNCTION_LINES = 40
"""Without signature and docstring."""


def _long_files(modules: Sequence[Module]) -> list[str]:
    lengths = {module.path: module.source.count("\n") for module in modules}
    for path in python_files("tests", "packaging"):
        lengths[path] = (ROOT / path).read_text().count("\n")
    return [f"{path} has {lines} lines" for path, lines in lengths.items() if lines > MOST_FILE_LINES]


def long_functions(modules: Sequence[Module]) -> list[str]:
    found = []
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = node.end_lineno - _body_start(node) + 1
                if lines > MOST_FUNCTION_LINES:
                    found.append(f"{module.at(node)} {node.name} has {lines} lines")
    return found


def _body_start(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """First line behind the signature and the docstring."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.end_lineno + 1 if is_docstring else first.lineno


LONG_FILES = Measure("long_files", f"files with more than {MOST_FILE_LINES} lines, tests too", 0, _long_files)
LONG_FUNCTIONS = Measure(
    "long_functions", f"functions with more than {MOST_FUNCTION_LINES} lines", 0, long_functions
)
