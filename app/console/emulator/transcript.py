"""Everything that a program wrote, kept in a file of this machine while its console is open."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.console.emulator.ghostty import Ghostty

_PIECE = 64 * 1024
"""Bytes that are read at once: fewer lines than a terminal keeps."""
_LINES = 20_000
"""Lines of a terminal after which they are written, and given up."""
_RETURNS = b"\x1b[20h"
"""A line feed also returns to the left."""
_CLEARED = re.compile(rb"\x1b\[([23])J")
"""What clears the screen (ED 2), or what was scrolled out of it (ED 3): a transcript keeps both."""


class Transcript:
    """An unnamed temporary file: it is gone with the console."""

    def __init__(self) -> None:
        name = "crossdesk-console-"
        self._file = tempfile.TemporaryFile(prefix=name, buffering=0)  # noqa: SIM115 # closed by `close`
        self._size = 0
        self._over = False

    def add(self, data: bytes) -> str:
        """Keep some more; returns why nothing is kept from now on, once, else nothing."""
        left = memoryview(data)
        try:
            while left and not self._over:
                taken = self._file.write(left)
                self._size += taken
                left = left[taken:]
        except OSError as error:
            self._over = True
            return error.strerror or str(error)
        return ""

    def copy(self) -> Copy:
        """What is kept now, to be written by any thread."""
        return Copy(os.dup(self._file.fileno()), self._size)

    def close(self) -> None:
        """Give the file up; what still arrives is let go."""
        self._over = True
        self._file.close()


class Copy:
    """What a transcript held; to be written once."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor, self._size = descriptor, size

    def write(self, path: Path) -> int:
        """Write it as the program did, control sequences too; returns the bytes. Raises OSError."""
        with path.open("wb") as target:
            for piece in self._pieces():
                target.write(piece)
        return self._size

    def write_text(self, path: Path, columns: int, rows: int, *, lines: bool) -> int:
        """Write what a terminal of this size showed, without sequences; returns the bytes. Raises OSError.

        What a full-screen program showed went away with it. `lines`: the program has no terminal, so that its
        lines end in a line feed alone.
        """
        terminal = Ghostty(columns, rows)
        terminal.feed(_RETURNS if lines else b"")
        with path.open("w", encoding="utf-8") as target:
            for piece in self._pieces():
                terminal.feed(_CLEARED.sub(_keep, piece))
                terminal.said()
                if terminal.scroll().total > _LINES:
                    target.write(f"{terminal.take_history()}\n")
            terminal.leave_alternate()
            target.write(f"{terminal.contents().rstrip()}\n")
        terminal.close()
        return path.stat().st_size

    def _pieces(self) -> Iterator[bytes]:
        """The bytes in their order; no piece ends within a line that has its end within the next bytes."""
        with open(self._descriptor, "rb", closefd=True, buffering=0) as source:
            place = 0
            while place < self._size:
                piece = os.pread(source.fileno(), min(_PIECE, self._size - place), place)
                whole = piece[: piece.rfind(b"\n") + 1] if place + len(piece) < self._size else piece
                yield whole or piece
                place += len(whole or piece)


def _keep(found: re.Match[bytes]) -> bytes:
    """Scroll the screen away instead of clearing it (ED 22)."""
    return b"\x1b[22J" if found.group(1) == b"2" else b""
