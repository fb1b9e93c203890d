"""Modules that one other module alone imports: often a part of it in a file of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tests.architecture.imports import import_graph
from tests.architecture.measure import Measure
from tests.architecture.modules import Module


def single_importers(modules: Sequence[Module]) -> list[str]:
    importers: dict[str, set[str]] = defaultdict(set)
    for name, targets in import_graph(modules).all_imports().items():
        for target in targets:
            importers[target].add(name)
    return [
        f"{module.name} <- {next(iter(importers[module.name]))}"
        for module in modules
        if not module.is_package and len(importers[module.name]) == 1
    ]


def _percent(modules: Sequence[Module]) -> int:
    """Rounded up, so that a file more or less seldom changes it."""
    whole = sum(not module.is_package for module in modules)
    return -(-100 * len(single_importers(modules)) // whole)


SINGLE_IMPORTERS = Measure(
    "single_importer_percent",
    "% of the modules have a single importer (tests not counted)",
    38,
    single_importers,
    _percent,
)
