"""Packages too large to be read as a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module
from tests.packaging.sources import tracked

MOST_ENTRIES = 25
"""Files and folders in one package, `__init__.py` included: what `ls` shows without scrolling."""


def _large(modules: Sequence[Module]) -> list[str]:
    packages = {module.path.parent for module in modules if module.is_package}
    entries = set()
    for path in tracked():
        for entry in (path, *path.parents):
            if entry.parent in packages:
                entries.add(entry)
    counts = Counter(entry.parent for entry in entries)
    return [
        f"{package} has {count} entries" for package, count in counts.most_common() if count > MOST_ENTRIES
    ]


PACKAGES = Measure("large_packages", f"packages with more than {MOST_ENTRIES} entries", 0, _large)
