"""The starter's list of output files: a line of sha256sum for each, then a line with each size."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_LINE = re.compile(rb"(\\?)([0-9a-f]{64})  \./(.*)", re.DOTALL)
_ESCAPED = re.compile(rb"\\([\\nr])")
_MEANING = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}


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


def _name(raw: bytes, escaped: bool) -> str:
    if escaped:
        raw = _ESCAPED.sub(lambda found: _MEANING[found[1]], raw)
    return os.fsdecode(raw)
