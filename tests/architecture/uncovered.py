"""Test modules that are not checked yet for what they leave running and what they log."""

from __future__ import annotations

from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module
from tests.packaging.sources import ROOT

FILE = ROOT / "tests" / "uncovered.txt"


def uncovered(_modules: Sequence[Module]) -> list[str]:
    """Their paths below `tests`; `pytest --uncovered` checks them all the same."""
    return FILE.read_text().split()


UNCOVERED = Measure("uncovered_test_modules", "test modules not checked for leaks and warnings", 0, uncovered)
