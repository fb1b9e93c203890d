"""What the disk says about a dropped path: read once, never followed further than needed."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

HEAD = 8192
"""Bytes read of the beginning of a file."""
_MOST_BESIDE = 5000


@dataclass(frozen=True, slots=True)
class PathFacts:
    """One path as found."""

    path: Path
    size: int = 0
    """Bytes; 0 for folders."""
    folder: bool = False
    executable: bool = False
    head: bytes = b""
    """The first bytes of a file, at most HEAD."""
    fault: str = ""
    """Why it cannot be used, in words that follow its name; empty if it can."""


def facts_of(path: Path) -> PathFacts:
    """Read what is needed to tell what `path` is. Never raises, never blocks on a pipe or device."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as problem:
        return PathFacts(path, fault=_in_words(problem))
    if stat.S_ISDIR(found.st_mode):
        return PathFacts(path, folder=True)
    if not stat.S_ISREG(found.st_mode):
        return PathFacts(path, fault="is neither a file nor a folder")
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError as problem:
        return PathFacts(path, found.st_size, fault=_in_words(problem))
    return PathFacts(path, found.st_size, executable=bool(found.st_mode & 0o111), head=head)


def names_beside(path: Path) -> frozenset[str]:
    """Names of the files in the folder of `path`, without hidden ones; of a very full folder none."""
    found = set()
    try:
        with os.scandir(path.parent) as entries:
            for number, entry in enumerate(entries):
                if number > _MOST_BESIDE:
                    return frozenset()
                if not entry.name.startswith(".") and entry.is_file():
                    found.add(entry.name)
    except OSError:
        return frozenset()
    return frozenset(found)


def _in_words(problem: Exception) -> str:
    if isinstance(problem, FileNotFoundError):
        return "does not exist"
    if isinstance(problem, PermissionError):
        return "may not be read by you"
    if isinstance(problem, OSError):
        return f"cannot be read ({(problem.strerror or 'input error').lower()})"
    return "has a name that no file can have"
