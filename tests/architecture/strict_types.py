"""Product packages that mypy does not check strictly."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import PRODUCT, Module
from tests.packaging.sources import ROOT

_HARMLESS = {"module", "ignore_missing_imports"}
"""Keys of an override that take no check away from our own modules."""


def _unchecked(_modules: Sequence[Module]) -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    if not settings.get("strict"):
        return list(PRODUCT)
    missing = [package for package in PRODUCT if package not in settings["packages"]]
    weakened = [
        f"{name} by {key}"
        for override in settings.get("overrides", ())
        for name in override["module"]
        for key in sorted(set(override) - _HARMLESS)
        if name.split(".")[0] in PRODUCT
    ]
    return missing + weakened


STRICT_TYPES = Measure("not_strictly_typed", "packages outside of mypy --strict", 0, _unchecked)
