"""Finding the files of an input sandbox on this machine."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from broker_core.client.programs.file_kind import interpreter_wanted
from broker_core.jdl import parametric
from broker_core.jdl.check import FileFact
from broker_core.jdl.collection import job_of, nodes
from broker_core.jdl.inheritance import whole_job
from broker_core.jdl.names import base_name, from_base, local, scheme, wrong_name
from broker_core.jdl.parametric import MARK
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Ad, ListOf, Literal
from broker_core.wire.checks import DiagnosticView

_PART = 1 << 20
_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that will be sent."""

    path: Path
    name: str
    size: int
    executable: bool
    written: str = ""
    """Name by which the description calls it, with `_PARAM_` or wildcards."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is on the disk for a description's sandbox."""

    files: tuple[FoundFile, ...]
    facts: Mapping[str, FileFact]
    """Entry as written to what was found; entries that name nothing are left out."""
    diagnostics: tuple[DiagnosticView, ...]


class _Unfit(Exception):
    """Why a path cannot be sent, in words."""


def find(text: str, base: Path, values: Sequence[str] | None = None) -> Found:
    """Look for the files that the description's `InputSandbox` names, relative to `base`.

    `values` stand for `_PARAM_`, one after the other; None: those that the description itself gives.
    """
    files: list[FoundFile] = []
    facts: dict[str, FileFact] = {}
    wrong: list[DiagnosticView] = []
    ad = parse(text).ad or Ad()
    named = ad.get("Executable")
    program = base_name(str(named.value)) if isinstance(named, Literal) else ""
    for entry in _entries(ad):
        written = str(entry.value)
        paths, missing = _paths(written, base, _values(ad) if values is None else values)
        if missing:
            wrong.append(_diagnostic("sandbox-file-missing", _not_there(missing), entry, text))
        if paths or MARK in written:
            good = _take(paths, entry, text, files, wrong)
            size = sum(one.size for one in good)
            wanted = next((interpreter_wanted(one.path) for one in good if one.name == program), "")
            facts[written] = FileFact(size=size, readable=len(good) == len(paths), interpreter=wanted)
    return Found(tuple(files), facts, tuple(wrong))


def _values(ad: Ad) -> Sequence[str]:
    return parametric.values(ad) or () if parametric.is_parametric(ad) else ()


def _paths(written: str, base: Path, values: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The paths that an entry stands for, and what it names for single values but is not there."""
    if MARK not in written:
        return _expand(local(written), base), []
    found: dict[Path, None] = {}
    missing = []
    for value in values:
        name = local(written.replace(MARK, value))
        paths = _expand(name, base)
        found.update(dict.fromkeys(paths))
        if not paths:
            missing.append(name)
    return list(found), missing


def _not_there(missing: list[str]) -> str:
    more = f", nor {len(missing) - 1} more for other values" if len(missing) > 1 else ""
    return f"There is no file {missing[0]}{more}; it is looked for next to the description."


def _entries(ad: Ad) -> list[Literal]:
    """Entries of the sandbox, and those of the nodes of a graph or collection, each once."""
    found = _texts(ad)
    known = {one.value for one in found}
    for _, node in nodes(ad):
        for one in _texts(whole_job(ad, job_of(node) or Ad())):
            if one.value not in known:
                known.add(one.value)
                found.append(one)
    return found


def _texts(ad: Ad) -> list[Literal]:
    """The entries that are files of this machine, not of the address that InputSandboxBaseURI names."""
    written, there = ad.get("InputSandbox"), ad.get("InputSandboxBaseURI")
    base = there.value if isinstance(there, Literal) and isinstance(there.value, str) else ""
    items = written.items if isinstance(written, ListOf) else [written]
    texts = [one for one in items if isinstance(one, Literal) and isinstance(one.value, str)]
    return [one for one in texts if scheme(from_base(str(one.value), base)) in ("", "file")]


def _expand(written: str, base: Path) -> list[Path]:
    """The paths an entry stands for, in order; a name that exists as written is no wildcard."""
    if "\0" in written or not written.strip():
        return []
    home = os.path.expanduser(written)
    path = os.path.join(base, home)
    if os.path.lexists(path):
        return [Path(path)]
    if not _WILD & set(written):
        return []
    # The folder itself may have characters that look like wildcards.
    pattern = path if os.path.isabs(home) else os.path.join(glob.escape(str(base)), home)
    return [Path(one) for one in sorted(glob.glob(pattern)) if not os.path.isdir(one)]


def _take(
    paths: list[Path], entry: Literal, text: str, files: list[FoundFile], wrong: list[DiagnosticView]
) -> list[FoundFile]:
    """Add the files of one entry to `files`, and what is wrong with them to `wrong`."""
    good: list[FoundFile] = []
    names = {one.name: one.path for one in files}
    for path in paths:
        try:
            one = _look(path, base_name(str(entry.value)))
        except _Unfit as unfit:
            wrong.append(_diagnostic("sandbox-file-unreadable", f"{path.name!r} {unfit}.", entry, text))
            continue
        if bad := wrong_name(one.name):
            wrong.append(_diagnostic(bad[0], bad[1], entry, text))
        if one.name in names:
            words = f"{one.name!r} is in the sandbox twice, from {names[one.name].parent} and {path.parent}."
            wrong.append(_diagnostic("duplicate-sandbox-name", words, entry, text))
        names.setdefault(one.name, path)
        good.append(one)
    files += good
    return good


def _look(path: Path, written: str) -> FoundFile:
    try:
        facts = path.stat()
    except OSError as error:
        raise _Unfit(f"cannot be read: {(error.strerror or 'error').lower()}") from error
    if stat.S_ISDIR(facts.st_mode):
        raise _Unfit("is a folder; name its files, for instance with a wildcard, or pack it")
    if not stat.S_ISREG(facts.st_mode):
        raise _Unfit("is no ordinary file")
    if not os.access(path, os.R_OK):
        raise _Unfit("cannot be read: permission denied")
    return FoundFile(path, path.name, facts.st_size, bool(facts.st_mode & 0o111), written)


def _diagnostic(code: str, message: str, entry: Literal, text: str) -> DiagnosticView:
    return DiagnosticView(
        severity="error",
        code=code,
        message=message,
        attribute="InputSandbox",
        line=text.count("\n", 0, entry.start) + 1,
        column=entry.start - text.rfind("\n", 0, entry.start),
        start=entry.start,
        end=entry.end,
    )


def opened(path: Path) -> BinaryIO:
    """An ordinary file for reading, without waiting for anything. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "It is no ordinary file", str(path))
    return open(handle, "rb", buffering=0)


def _read(stream: BinaryIO) -> bytes:
    part = stream.read(_PART)
    if part is None:
        raise OSError(errno.EAGAIN, "It gives nothing to read now", stream.name)
    return part


def hashed(path: Path, step: Callable[[int], None] | None = None) -> tuple[str, int]:
    """SHA-256 (hex) and size of a file; `step` gets the bytes read. Raises OSError.

    Never waits for a writer: what gives nothing now, such as a pipe or some files of /proc, cannot be read.
    """
    digest = hashlib.sha256()
    size = 0
    with opened(path) as stream:
        while part := _read(stream):
            digest.update(part)
            size += len(part)
            if step:
                step(len(part))
    return digest.hexdigest(), size
