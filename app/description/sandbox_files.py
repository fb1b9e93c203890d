"""What the entries of a sandbox are on this machine's disk, before anything is sent."""

from __future__ import annotations

import glob
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from broker_core.client.printable import printable as printable

_WILD = frozenset("*?[")
_MOST = 2000
"""Files of one wildcard that are looked at while typing."""


@dataclass(frozen=True, slots=True)
class SandboxItem:
    """One entry of an input sandbox as written, and what was found for it."""

    written: str
    size: int
    """Bytes of all files it stands for."""
    files: int
    """How many files it stands for; more than one only with wildcards."""
    fault: str = ""
    """Why it cannot be sent, in a few words; empty if it can."""

    @property
    def shown(self) -> str:
        """The name for a list: without folders, with control characters made visible."""
        return printable(self.written.rstrip("/").rsplit("/", 1)[-1] or self.written)


def looked_up(entries: list[str], base: Path) -> tuple[SandboxItem, ...]:
    """Look for each entry below `base`."""
    return tuple(_look_up(entry, base) for entry in entries)


def _look_up(written: str, base: Path) -> SandboxItem:
    if "\0" in written or not written.strip():
        return SandboxItem(written, 0, 0, "not a file name")
    path = os.path.join(base, os.path.expanduser(written))
    if not os.path.lexists(path) and _WILD & set(written):
        found = glob.glob(path)[:_MOST]
        sizes = [_size(name) for name in found]
        good = [size for size in sizes if isinstance(size, int)]
        return SandboxItem(written, sum(good), len(good), "" if good else "nothing matches")
    size = _size(path)
    return SandboxItem(written, size, 1) if isinstance(size, int) else SandboxItem(written, 0, 0, size)


def _size(path: str) -> int | str:
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return "missing"
    except OSError as problem:
        return (problem.strerror or "unreadable").lower()
    if stat.S_ISDIR(facts.st_mode):
        return "a folder"
    if not stat.S_ISREG(facts.st_mode):
        return "not a file"
    return facts.st_size if os.access(path, os.R_OK) else "not readable"


def as_entry(path: Path, base: Path) -> str:
    """`path` as an entry of a sandbox: relative where it lies below `base`."""
    if path.is_relative_to(base) and not str(path.relative_to(base)).startswith("~"):
        return str(path.relative_to(base))
    return str(path)
