"""Output on its way into a terminal: read in slices of time, so that the window never waits."""

from __future__ import annotations

import time
from collections import deque

from PySide6.QtCore import QObject, QTimer, Signal

from app.console.emulator.ghostty import Ghostty

BUDGET = 0.006
"""Seconds of one turn of the event loop that go into reading output."""
_SLICE = 64 * 1024


class OutputFeeder(QObject):
    """Feeds a terminal; pieces of any size are taken without being copied."""

    read = Signal(int)
    """So many bytes were read in this turn."""

    def __init__(self, terminal: Ghostty, parent: QObject) -> None:
        super().__init__(parent)
        self._terminal = terminal
        self._waiting: deque[tuple[memoryview, bool, bool]] = deque()
        self.behind = 0
        """Bytes that were taken and not read yet."""
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._read)

    def take(self, data: bytes, *, past: bool = False, by_lines: bool = False) -> None:
        """Take a piece, `by_lines` of a program without a terminal; it is read in the turns that follow."""
        self._waiting.append((memoryview(data), past, by_lines))
        self.behind += len(data)
        if not self._turn.isActive():
            self._turn.start()

    def go_on(self) -> None:
        """The terminal can be fed again."""
        if self._waiting:
            self._turn.start()

    def _read(self) -> None:
        if self._terminal.busy:
            return
        end = time.perf_counter() + BUDGET
        size = 0
        while self._waiting and time.perf_counter() < end:
            piece, past, by_lines = self._waiting.popleft()
            now, later = piece[:_SLICE], piece[_SLICE:]
            self._terminal.feed(_for_screen(bytes(now)) if by_lines else now, past=past)
            size += len(now)
            if later:
                self._waiting.appendleft((later, past, by_lines))
        self.behind -= size
        if self._waiting:
            self._turn.start()
        self.read.emit(size)


def _for_screen(data: bytes) -> bytes:
    """Output of a program without a terminal: a new line also returns to the left."""
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
