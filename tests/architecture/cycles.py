"""Modules that import each other in a circle."""

from __future__ import annotations

from collections.abc import Sequence

from tests.architecture.imports import cycles, import_graph
from tests.architecture.measure import Measure
from tests.architecture.modules import Module


def run_time_cycles(modules: Sequence[Module]) -> list[str]:
    return [" ".join(group) for group in cycles(import_graph(modules).run_time)]


def type_cycles(modules: Sequence[Module]) -> list[str]:
    return [" ".join(group) for group in cycles(import_graph(modules).all_imports())]


RUN_TIME_CYCLES = Measure(
    "run_time_cycles", "import cycles at run time, imports in functions counted", 0, run_time_cycles
)
TYPE_CYCLES = Measure(
    "type_cycles", "import cycles, imports for the type checker counted too", 0, type_cycles
)
