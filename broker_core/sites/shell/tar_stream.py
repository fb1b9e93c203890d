"""Reading a tar stream as it comes, without trusting it."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator

_BLOCK = 512
_LONG_NAME = b"L"
_MOST_NAME = 1 << 16


class TarStream:
    """Takes pieces of a tar stream and hands on the names and bytes of its regular files.

    Other members are left out. What a truncated stream brought until then has been handed on.
    """

    def __init__(self, begin: Callable[[str, int], None], data: Callable[[bytes], None]) -> None:
        """`begin`: a file with its size follows. `data`: some of its bytes; less than the size if cut off."""
        self._begin, self._data = begin, data
        self._buffer = bytearray()
        self._left = 0
        """Bytes of the current member that are still to come."""
        self._padding = 0
        self._content_sink: Callable[[bytes], None] = _leave_out
        """Takes the bytes of the current member."""
        self._long_name: bytearray | None = None
        self._next_name = ""
        self.over = False
        """The end mark was seen."""

    def feed(self, piece: bytes) -> None:
        """Take the next piece; raises ValueError for what is no tar stream."""
        view = memoryview(piece)
        while view and not self.over:
            if self._left:
                view = self._content(view)
            elif self._padding:
                skipped = min(self._padding, len(view))
                self._padding -= skipped
                view = view[skipped:]
            else:
                taken = _BLOCK - len(self._buffer)
                self._buffer += view[:taken]
                view = view[taken:]
                if len(self._buffer) == _BLOCK:
                    self._header(bytes(self._buffer))
                    self._buffer.clear()

    def _content(self, view: memoryview) -> memoryview:
        taken = view[: self._left]
        self._left -= len(taken)
        if self._long_name is not None:
            self._long_name += taken
            if not self._left:
                self._next_name = os.fsdecode(bytes(self._long_name).rstrip(b"\0"))
                self._long_name = None
        else:
            self._content_sink(bytes(taken))
        return view[len(taken) :]

    def _header(self, block: bytes) -> None:
        if not block.strip(b"\0"):
            self.over = True
            return
        try:
            entry = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise ValueError(f"The stream of files is damaged: {error}") from error
        self._left = entry.size if entry.isreg() or entry.type == _LONG_NAME else 0
        self._padding = -self._left % _BLOCK
        if entry.type == _LONG_NAME:
            if entry.size > _MOST_NAME:
                raise ValueError("The stream of files has a name that is too long.")
            self._long_name = bytearray()
            return
        name, self._next_name = self._next_name or entry.name, ""
        self._content_sink = self._data if entry.isreg() else _leave_out
        if entry.isreg():
            self._begin(name.removeprefix("./"), entry.size)


def _leave_out(_: bytes) -> None:
    """A member that is no regular file."""


def read_small(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Whole files of a stream that is there; one that was cut off is left out. Raises ValueError."""
    found: list[tuple[str, int, bytearray]] = []
    stream = TarStream(
        lambda name, size: found.append((name, size, bytearray())),
        lambda data: found[-1][2].extend(data),
    )
    stream.feed(archive)
    for name, size, content in found:
        if len(content) == size:
            yield name, bytes(content)
