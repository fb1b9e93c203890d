"""Resources out of LDIF, as `ldapsearch` and information providers write it (RFC 2849)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ldif import LDIFParser

from broker_core.errors import BadRequest
from broker_core.information.glue.entries import Entries
from broker_core.information.glue.join import joined
from broker_core.information.glue.join_storage import StorageElements, storage_elements
from broker_core.information.glue.refusals import Refusals
from broker_core.resources.facts import Facts

LARGEST_RECORD = 16_000_000
"""Bytes of one record."""


def described(path: Path, remarks: Refusals) -> tuple[tuple[Facts, ...], StorageElements]:
    """What the file says of computing elements, in either vocabulary or both, and of storage; raises
    OSError, and BadRequest if nothing of it can be read.

    A record that cannot be read is refused with its line; the others hold.
    """
    entries = Entries()
    readable = False
    with path.open("rb") as stream:
        for line, record in _records(stream):
            try:
                _add(entries, record)
                readable = True
            except ValueError as why:
                entries.remarks.add(f"line {line}", f"record refused: {_words(why)}")
    if entries.remarks.count and not readable:
        raise BadRequest(
            f"The file has no entry that can be read ({entries.remarks.shown[0]}).",
            place=str(path),
            remedy="Give what `ldapsearch -LLL` writes, or a file in TOML with a name that ends in .toml.",
        )
    found = tuple(joined(entries))
    storage = storage_elements(entries)
    remarks.take(entries.remarks)
    return found, storage


def _words(why: ValueError) -> str:
    if isinstance(why, UnicodeDecodeError) or isinstance(why.args[0], UnicodeDecodeError):
        return "a name in it is no text"
    if "subsection not found" in str(why):
        return "a line of it is not of the form name: value"
    return str(why)[:120]


def _add(entries: Entries, record: bytes) -> None:
    for name, values in LDIFParser(io.BytesIO(record), encoding=None).parse():
        if name is None:
            raise ValueError("it has no name (dn:)")
        if "changetype" in values:
            raise ValueError("it is a change, not an entry")
        entries.add(name.encode(), {attribute.encode(): raw for attribute, raw in values.items()})


def _records(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Number of the first line, and the record; comments and the version line alone are no records."""
    lines: list[bytes] = []
    size, first = 0, 1
    for number, line in enumerate(stream, 1):
        if line.strip():
            first = first if lines else number
            size += len(line)
            if size <= LARGEST_RECORD:
                lines.append(line)
            continue
        if lines and _is_entry(lines):
            yield first, b"".join(lines)
        lines, size = [], 0
    if lines and _is_entry(lines):
        yield first, b"".join(lines)


def _is_entry(lines: list[bytes]) -> bool:
    return any(not line.startswith((b"#", b"version:", b"search:", b"result:", b" ")) for line in lines)
