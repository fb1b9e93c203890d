"""A local copy of a job's file that grows as the file does, and gives any stretch of its rows at once."""

from __future__ import annotations

import os
import tempfile
import weakref
from dataclasses import dataclass

from app.inspector.logs.line_index import WIDEST, LineIndex

_PEEK = 8192


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row as stored."""

    number: int
    """Number of the line it belongs to, from 1."""
    offset: int
    """Of its first byte in the file."""
    raw: bytes
    """Without its newline."""
    first: bool
    """False where it goes on with the line of the row before."""


class LogSpool:
    """An unnamed temporary file with its index of rows; gone when nobody refers to it any more, threads
    that still read it included. Readable by its owner only."""

    def __init__(self) -> None:
        self._file, name = tempfile.mkstemp(prefix="crossdesk-")
        os.unlink(name)
        weakref.finalize(self, os.close, self._file)
        self.index = LineIndex()
        self.binary = False
        """True if the beginning holds a zero byte."""

    @property
    def size(self) -> int:
        """Bytes copied so far."""
        return self.index.size

    @property
    def rows(self) -> int:
        """Rows that can be read."""
        return self.index.rows

    def append(self, content: bytes) -> None:
        """Add the next bytes of the file; may be called from another thread than the readers."""
        if self.index.size < _PEEK and b"\0" in content[: _PEEK - self.index.size]:
            self.binary = True
        written = 0
        while written < len(content):
            written += os.pwrite(self._file, content[written:], self.index.size + written)
        self.index.feed(content)

    def read(self, start: int, length: int) -> bytes:
        """Return bytes as stored."""
        return os.pread(self._file, length, start)

    def read_rows(self, first: int, count: int) -> list[LogRow]:
        """Return up to `count` rows from row `first` on."""
        last = min(first + count, self.rows)
        if first >= last:
            return []
        row, offset, number = self.index.before(first)
        content = self.read(offset, self.index.after(last - 1) - offset)
        found: list[LogRow] = []
        place, opens = 0, self._opens_line(offset)
        while row < last and place < len(content):
            end = content.find(b"\n", place, place + WIDEST)
            stop = end if end >= 0 else min(place + WIDEST, len(content))
            if row >= first:
                found.append(LogRow(number, offset + place, content[place:stop], opens))
            place = stop + (end >= 0)
            row, opens = row + 1, end >= 0
            number += end >= 0
        return found

    def _opens_line(self, offset: int) -> bool:
        return offset == 0 or self.read(offset - 1, 1) == b"\n"

    def row_of(self, offset: int) -> int:
        """Return the row that holds the byte at `offset`."""
        row = self.index.block_of(offset)
        for one in self.read_rows(row, 64):
            if one.offset > offset:
                break
            row += 1
        return max(0, row - 1)
