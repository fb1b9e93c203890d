"""Bringing an attempt's output to the broker, proved by the Job Starter's sizes and hashes."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from broker_core.errors import NotFound
from broker_core.sites.adapter import Adapter
from broker_core.sites.left_files import MOST_NAMES, LeftAtSite, LeftFile
from broker_core.sites.link import TransferProgress
from broker_core.sites.run_files import is_inside
from broker_core.sites.shell.files import make_empty

_LINE = re.compile(rb"(\\?)([0-9a-f]{64})  \./(.*)", re.DOTALL)
_ESCAPED = re.compile(rb"\\([\\nr])")
_DIGITS = 19
"""Of the largest number of bytes that a file system counts."""
_MEANING = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}
Run = Callable[[Callable[[], list[str]]], Awaitable[list[str]]]
"""Does something short with files, in a thread."""


@dataclass(frozen=True, slots=True)
class OutputProof:
    """What an output file was when the program had ended."""

    sha256: str
    size: int


def read_outputs(raw: bytes) -> dict[str, OutputProof]:
    """Name, relative to the job's directory, to its proof. Raises ValueError for a list that is not whole."""
    hashes, sizes = [], []
    for line in raw.split(b"\n"):
        if line.startswith(b"size "):
            sizes.append(int(line[5:]))
        elif found := _LINE.fullmatch(line):
            hashes.append((_name(found[3], bool(found[1])), found[2].decode()))
    if len(hashes) != len(sizes):
        raise ValueError("The Job Starter's list of output files is not whole.")
    return {name: OutputProof(sha256, size) for (name, sha256), size in zip(hashes, sizes, strict=True)}


def read_left(raw: bytes) -> LeftAtSite:
    """What the Job Starter's list of outputs tells of files that stay. A job can write there: what makes no
    sense is left out, and never more is taken than a starter lists."""
    files: list[LeftFile] = []
    more = size = 0
    for line in raw.split(b"\n"):
        kind, _, rest = line.partition(b" ")
        number, _, name = rest.partition(b" ")
        if kind not in (b"stay", b"stayed") or not number.isdigit() or len(number) > _DIGITS:
            continue
        if kind == b"stay" and len(files) < MOST_NAMES:
            path = os.fsdecode(_ESCAPED.sub(lambda found: _MEANING[found[1]], name.removeprefix(b"./")))
            if is_inside(path):
                files.append(LeftFile(path, int(number)))
        elif kind == b"stayed" and name.isdigit() and len(name) <= _DIGITS:
            more, size = int(number), int(name)
    return LeftAtSite(tuple(files), more, size)


def _name(raw: bytes, escaped: bool) -> str:
    if escaped:
        raw = _ESCAPED.sub(lambda found: _MEANING[found[1]], raw)
    return os.fsdecode(raw)


class OutputBroken(Exception):
    """The output that the starter vouched for did not arrive; the text says what and where."""


async def bring(adapter: Adapter, tag: str, raw: bytes, into: Path, tries: int, run: Run) -> None:
    """Bring every file of the starter's list. Raises OutputBroken, LinkLost and OSError.

    `run`: has empty files made, which need not travel.
    """
    try:
        proofs = read_outputs(raw)
    except ValueError as error:
        raise OutputBroken(str(error)) from error
    if strange := [name for name in proofs if not is_inside(name)]:
        raise OutputBroken(
            f"The Job Starter's list names {strange[0]!r}, which is outside the job's directory."
        )
    total = sum(proof.size for proof in proofs.values())
    adapter.link.transfers[tag] = TransferProgress(False, total, lambda: _arrived(proofs, into))
    try:
        empty = {name: proof for name, proof in proofs.items() if not proof.size}
        if empty:
            await run(lambda: _unproved(empty, into))
        if len(empty) < len(proofs):
            await _bring_all(adapter, tag, proofs, into, tries)
    finally:
        adapter.link.transfers.pop(tag, None)


def _arrived(names: Iterable[str], into: Path) -> int:
    """Bytes of the files that are here."""
    found = 0
    for name in names:
        with contextlib.suppress(OSError):
            found += (into / name).lstat().st_size
    return found


async def _bring_all(
    adapter: Adapter, tag: str, proofs: Mapping[str, OutputProof], into: Path, tries: int
) -> None:
    left = await asyncio.to_thread(_unproved, proofs, into)
    for _ in range(tries):
        if not left:
            return
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(NotFound):  # one that is gone keeps none of the others away
            await adapter.fetch(tag, left, into)
        left = await asyncio.to_thread(_unproved, {name: proofs[name] for name in left}, into)
        for name in left:
            # What was there did not belong to this file: it is brought anew, not continued.
            (into / name).unlink(missing_ok=True)
    if left:
        raise OutputBroken(
            f"The output file {left[0]!r} did not arrive as the Job Starter had left it: it changed later, "
            "is no ordinary file in the job's directory, or the site's disk is damaged."
        )


def _unproved(proofs: Mapping[str, OutputProof], into: Path) -> list[str]:
    """Names of those that are not here as they should be; empty ones are made. Raises OSError."""
    return [name for name, proof in proofs.items() if not _is_here(into / name, proof)]


def _is_here(path: Path, proof: OutputProof) -> bool:
    if not proof.size:
        # A file without a byte need not travel; most programs leave their standard error so.
        make_empty(path)
        return True
    try:
        if path.is_symlink() or path.stat().st_size != proof.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == proof.sha256
    except OSError:
        return False
