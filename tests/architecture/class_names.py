"""Public class names that mean more than one class."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module


def shared_names(modules: Sequence[Module]) -> list[str]:
    found: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module.at(node))
    return [f"{name}: {' '.join(places)}" for name, places in sorted(found.items()) if len(places) > 1]


CLASS_NAMES = Measure("shared_class_names", "public class names in more than one file", 0, shared_names)
