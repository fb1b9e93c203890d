"""What the archive with this program compiles to, beside it: without that each start compiles it once more.

There is one such archive for each version of Python that a site has. Whoever starts a process names both
archives in `sys.path`, so that the first need not be there.
"""

from __future__ import annotations

import marshal
import os
import select
import sys
import time
from contextlib import suppress

_SUFFIX = f".{sys.implementation.cache_tag}-{sys.hexversion:x}"
SOURCES = os.path.abspath(__file__.partition("/broker_core/worker/")[0].removesuffix(_SUFFIX))
"""The archive, or a folder where it is none."""
COMPILE = """import sys; sys.path[:0] = sys.argv[1:]
from broker_core.worker.scripts.payloads.compiled import provide; provide()
"""
"""Has a process do only that, whose word is the archive."""
_MOST_SECONDS, _PERIOD = 1.0, 0.02
"""How long somebody else is waited for who writes it, and between two looks."""


def provide() -> None:
    """Have it there for what is imported next: many begin together, and one of them writes it."""
    target = f"{SOURCES}{_SUFFIX}"
    if os.path.exists(target) or not os.path.isfile(SOURCES):
        return
    try:
        _write(target)
    except FileExistsError:
        _await(target)
    except OSError:
        return  # it cannot be written
    # What came out of the archive so far would bring the rest from there too.
    for name in [name for name in sys.modules if name.startswith("broker_core")]:
        del sys.modules[name]
    sys.path_importer_cache.pop(target, None)


def _await(target: str) -> None:
    """Wait for who writes it; one that takes too long was killed, and is forgotten."""
    until = time.monotonic() + _MOST_SECONDS
    while not os.path.exists(target):
        if time.monotonic() > until:
            with suppress(OSError):
                os.unlink(f"{target}.new")
            return
        select.select([], [], [], _PERIOD)


def _write(target: str) -> None:
    part = f"{target}.new"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        _fill(file)
        os.rename(part, target)
    except OSError:
        os.unlink(part)  # nobody need wait for it
        raise


def _fill(file: int) -> None:
    # Both take longer to import than all the rest, and one process of many needs them.
    from importlib.util import MAGIC_NUMBER
    from zipfile import ZipFile, ZipInfo

    with open(file, "wb") as stream, ZipFile(SOURCES) as sources, ZipFile(stream, "w") as archive:
        for name in filter(lambda one: one.startswith("broker_core/"), sources.namelist()):
            code = compile(sources.read(name), name, "exec", dont_inherit=True, optimize=2)
            archive.writestr(ZipInfo(f"{name}c"), MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
