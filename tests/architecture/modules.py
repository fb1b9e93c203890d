"""The modules of the product, parsed once for all measures."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.sources import ROOT, python_files

PRODUCT = ("app", "broker_core")


@dataclass(frozen=True, eq=False)
class Module:
    """One Python file of the product.

    Attributes:
        name: dotted name; a package has the name of its folder.
        path: relative to the root of the project.
        source: its text.
        tree: its syntax tree.
    """

    name: str
    path: Path
    source: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        """True for an `__init__.py`."""
        return self.path.name == "__init__.py"

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree; several measures walk over all of them."""
        return tuple(ast.walk(self.tree))

    def at(self, node: ast.AST) -> str:
        """`path:line` of a node."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


def parse(path: Path, source: str) -> Module:
    """The module of a path relative to the root."""
    parts = path.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, source, ast.parse(source))


@functools.cache
def product() -> tuple[Module, ...]:
    """All modules of the product, in the order of their paths."""
    return tuple(parse(path, (ROOT / path).read_text()) for path in sorted(python_files(*PRODUCT)))
