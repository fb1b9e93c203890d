"""The transition tables of the broker's modules."""

from __future__ import annotations

import importlib
import re
from typing import Any

from broker_core.jobs.transition_table import TransitionTable
from tests.packaging.sources import ROOT, python_files

_MADE = re.compile(r"(?m)^[A-Z_]+(?:: [^=]+)? = TransitionTable\(")


def tables() -> dict[str, TransitionTable[Any, Any]]:
    """Name to every table that a module of broker_core makes."""
    found: dict[str, TransitionTable[Any, Any]] = {}
    for path in python_files("broker_core"):
        if _MADE.search((ROOT / path).read_text(encoding="utf-8")):
            module = importlib.import_module(".".join(path.with_suffix("").parts))
            made = {name: one for name, one in vars(module).items() if isinstance(one, TransitionTable)}
            found |= {name: one for name, one in made.items() if one not in found.values()}
    return found


TABLES = tables()
