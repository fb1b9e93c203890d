"""What a program wrote on a stream, by offset: the newest in memory, older on disk (CB-BYP-03)."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

BLOCK = 64 * 1024
"""Bytes of a block in memory."""
SEGMENT = 4 << 20
"""Bytes of a file on the disk."""


class OutputSpool:
    """Bytes from `start` to `end`; appended at the end, forgotten from the start."""

    def __init__(self, directory: Path, name: str, memory: int) -> None:
        self._directory = directory
        self._name = name
        self._memory = memory
        self._blocks: deque[tuple[int, bytearray]] = deque()
        self._segments: deque[tuple[int, int]] = deque()
        """First offset and length of each file."""
        self._file = -1
        self.start = 0
        self.end = 0

    def append(self, data: bytes) -> None:
        """Take bytes in; what does not fit into memory goes to the disk. Raises OSError if that is full.

        After such an error everything is still there, in memory.
        """
        if self._blocks and len(self._blocks[-1][1]) + len(data) <= BLOCK:
            self._blocks[-1][1].extend(data)
        else:
            self._blocks.append((self.end, bytearray(data)))
        self.end += len(data)
        self.spill()

    def spill(self) -> None:
        """Move what memory should not hold to the disk; raises OSError."""
        while len(self._blocks) > 1 and self.end - self._blocks[0][0] > self._memory:
            offset, block = self._blocks[0]
            if offset + len(block) > self.start:
                self._write(offset, block)
            self._blocks.popleft()

    def read(self, offset: int, most: int) -> bytes:
        """Up to `most` bytes from `offset` on, at least one if there is any."""
        if self._blocks and offset >= self._blocks[0][0]:
            return self._from_memory(offset, most)
        for first, length in self._segments:
            if first <= offset < first + length:
                with open(self._path(first), "rb", buffering=0) as file:
                    return os.pread(file.fileno(), min(most, first + length - offset), offset - first)
        return b""

    def forget(self, offset: int) -> None:
        """Bytes below `offset` are not needed any more."""
        self.start = max(self.start, min(offset, self.end))
        while self._segments and sum(self._segments[0]) <= self.start:
            first, _ = self._segments.popleft()
            if not self._segments:
                self._close()
            os.unlink(self._path(first))
        while len(self._blocks) > 1 and self._blocks[1][0] <= self.start:
            self._blocks.popleft()

    def remove(self) -> None:
        """Delete the files."""
        self._close()
        while self._segments:
            os.unlink(self._path(self._segments.popleft()[0]))

    @property
    def on_disk(self) -> int:
        """Bytes in files."""
        return sum(length for _, length in self._segments)

    def _from_memory(self, offset: int, most: int) -> bytes:
        found = bytearray()
        for first, block in self._blocks:
            if first + len(block) > offset + len(found):
                inside = offset + len(found) - first
                found += memoryview(block)[inside : inside + most - len(found)]
                if len(found) >= most:
                    break
        return bytes(found)

    def _write(self, offset: int, data: bytearray) -> None:
        if self._file < 0 or self._segments[-1][1] >= SEGMENT:
            self._close()
            self._file = os.open(self._path(offset), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            self._segments.append((offset, 0))
        first, length = self._segments[-1]
        written = 0
        while written < len(data):
            # Places are given, so that a part written before the disk was full is written over.
            written += os.pwrite(self._file, memoryview(data)[written:], length + written)
        self._segments[-1] = (first, length + len(data))

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _path(self, first: int) -> Path:
        return self._directory / f"{self._name}-{first:020d}"
