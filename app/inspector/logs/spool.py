"""A local copy of a job's file that grows as the file does, and gives any stretch of its rows at once."""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

EVERY = 64
"""One row in so many is remembered; the others are found by reading from it."""
WIDEST = 8192
"""Bytes of a row: a longer line goes on in the next row, which has no line number of its own."""
_PEEK = 8192


class LineIndex:
    """Learns the rows of a file from its content, fed in order.

    A row ends after a newline or after WIDEST bytes. Costs 16 bytes per EVERY rows. Only `feed` changes it;
    readers in another thread see whole rows, because `size` and `rows` are set last.
    """

    def __init__(self) -> None:
        self.size = 0
        """Bytes fed so far."""
        self.rows = 0
        """Rows that have at least one byte."""
        self.lines = 0
        """Lines, the last unfinished one included."""
        self._offsets, self._numbers = array("q", [0]), array("q", [1])
        self._starts = 1
        self._open = 0
        self._number = 1

    def feed(self, content: bytes) -> None:
        """Take the next bytes of the file."""
        if not content:
            return
        size = self.size + len(content)
        breaks = np.flatnonzero(np.frombuffer(content, np.uint8) == 10).astype(np.int64) + (self.size + 1)
        starts, numbers = self._starts_between(breaks, size)
        self._remember(starts, numbers)
        if len(starts):
            self._open, self._number = int(starts[-1]), int(numbers[-1])
        self.rows = self._starts - (self._open == size)
        self.lines = self._number - (self._open == size)
        self.size = size

    def _starts_between(self, breaks: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        begins = np.concatenate(([self._open], breaks))
        numbers = self._number + np.arange(len(begins), dtype=np.int64)
        ends = np.concatenate((breaks, [size]))
        pieces = np.maximum(1, -(-(ends - begins) // WIDEST))
        if int(pieces.max()) > 1:
            numbers = np.repeat(numbers, pieces)
            within = np.arange(len(numbers)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
            begins = np.repeat(begins, pieces) + within * WIDEST
        return begins[1:], numbers[1:]

    def _remember(self, starts: np.ndarray, numbers: np.ndarray) -> None:
        first = -self._starts % EVERY
        self._numbers.extend(numbers[first::EVERY].tolist())
        self._offsets.extend(starts[first::EVERY].tolist())
        self._starts += len(starts)

    def before(self, row: int) -> tuple[int, int, int]:
        """Return the remembered row at or before `row`: its number, its offset and its line's number."""
        block = min(row // EVERY, len(self._offsets) - 1)
        return block * EVERY, self._offsets[block], self._numbers[block]

    def after(self, row: int) -> int:
        """Return an offset at or after the end of `row`."""
        block = row // EVERY + 1
        return self._offsets[block] if block < len(self._offsets) else self.size

    def block_of(self, offset: int) -> int:
        """Return the last remembered row that begins at or before `offset`."""
        return (bisect_right(self._offsets, offset) - 1) * EVERY


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
