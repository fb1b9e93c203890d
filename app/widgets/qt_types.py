"""Qt's types, made in the window's thread before another thread imports what is built on them.

PySide makes each type when its name is first looked up. Done in another thread, the window meets types that
are half made, and the program is ended by a segmentation fault.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from time import perf_counter

MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtOpenGLWidgets", "QtTest")
"""What we and pyqtgraph use."""
_STEP = 0.004
"""Seconds of work in a step, if one type does not take longer."""


def in_steps() -> Iterator[None]:
    """Make all types; the window may be looked after between two steps. Costs nothing once they are there."""
    begun = perf_counter()
    for module, name in unmade():
        getattr(sys.modules[module], name, None)
        if perf_counter() - begun > _STEP:
            yield
            begun = perf_counter()


def unmade() -> list[tuple[str, str]]:
    """Modules with the names in them whose types are not made yet."""
    found = []
    for module in (f"PySide6.{name}" for name in MODULES):
        with suppress(ImportError):  # a system may lack a library of one; pyqtgraph goes without it, too
            there = import_module(module)
            found += [(module, name) for name in dir(there) if name not in vars(there)]
    return found
