"""What the archive with this program compiles to, beside it: without that each start compiles it once more.

There is one such archive for each version of Python that a site has. Whoever starts a process names both
archives in `sys.path`, so that the first need not be there.
"""

from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress

_SUFFIX = f".{sys.implementation.cache_tag}-{sys.hexversion:x}"
SOURCES = os.path.abspath(__file__.partition("/broker_core/worker/")[0].removesuffix(_SUFFIX))
"""The archive, or a folder where it is none."""
START = """import sys; a = sys.argv[1]; i = sys.implementation.cache_tag
sys.path[:0] = [f"{a}.{i}-{sys.hexversion:x}", a]
"""
"""Begins what a process runs whose first word is the archive."""


def provide() -> None:
    """Write it where it is missing, and nobody else does."""
    target = f"{SOURCES}{_SUFFIX}"
    if os.path.exists(target) or not os.path.isfile(SOURCES):
        return
    with suppress(OSError):  # somebody else writes it, or it cannot be written
        _write(target)


def _write(target: str) -> None:
    part = f"{target}.new"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    # Both take longer to import than all the rest, and one process of many needs them.
    from importlib.util import MAGIC_NUMBER
    from zipfile import ZipFile, ZipInfo

    with open(file, "wb") as stream, ZipFile(SOURCES) as sources, ZipFile(stream, "w") as archive:
        for name in filter(lambda one: one.startswith("broker_core/"), sources.namelist()):
            code = compile(sources.read(name), name, "exec", dont_inherit=True, optimize=2)
            archive.writestr(ZipInfo(f"{name}c"), MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    os.rename(part, target)
