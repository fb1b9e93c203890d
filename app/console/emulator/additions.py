"""Sequences that libghostty does not know, done by feeding it ones that it does.

These are the soft reset (DECSTR) and the stack of titles (XTWINOPS 22 and 23).
"""

from __future__ import annotations

import re
from typing import Protocol

_KNOWN = re.compile(rb"\x1b\[(?:(?P<reset>!p)|(?P<way>2[23])(?:;(?P<what>[0-2]))?(?:;[0-9]{1,3})?t)")
_LONGEST = 12
"""Bytes of the longest of them, so that one is found that was cut."""
_HINTS = (b"\x1b[!p", b"\x1b[22;", b"\x1b[23;", b"\x1b[22t", b"\x1b[23t")
"""What a piece must hold to be looked at closely: output has very many sequences, and hardly ever these."""
_TITLES = 10
_RESET = (
    b"\x1b[?25h\x1b[4l\x1b[?6l\x1b[?7h\x1b[?45l\x1b[?1l\x1b>"
    b'\x1b[?69l\x1b[r\x1b[0m\x1b[0"q\x0f\x1b(B\x1b)B\x1b*B\x1b+B\x1b[H\x1b7'
)
"""Cursor shown, replacing, no origin, wrapping, usual keys, no margins, no attributes, US-ASCII; the saved
cursor is at home. It leaves the screen, its colours, the scroll-back and the titles alone (VT510, xterm)."""


class Screen(Protocol):
    """The terminal that is added to."""

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row on the screen, from 0."""
        ...

    @property
    def title(self) -> str:
        """What the program calls itself."""
        ...

    def write(self, data: bytes | memoryview) -> None:
        """Take bytes that hold nothing to be added."""
        ...


class Additions:
    """Stands before a terminal; takes pieces that are cut anywhere."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._tail = b""
        self._titles: list[str] = []

    def feed(self, data: bytes | memoryview) -> None:
        """Give a piece to the terminal, and do after each sequence of ours what it asks for."""
        seen = b"".join((self._tail, data))
        had, self._tail = len(self._tail), seen[-_LONGEST:]
        given = 0
        if any(hint in seen for hint in _HINTS):
            for found in _KNOWN.finditer(seen):
                if found.end() > had:
                    self._screen.write(data[given : found.end() - had])
                    given = found.end() - had
                    self._add(found)
        self._screen.write(data[given:])

    def _add(self, found: re.Match[bytes]) -> None:
        if found["reset"]:
            self._reset()
        elif found["what"] != b"1":
            self._title(found["way"])

    def _reset(self) -> None:
        """The cursor stays where it is, but what is reset moves it."""
        column, row = self._screen.cursor
        self._screen.write(_RESET + b"\x1b[%d;%dH" % (row + 1, column + 1))

    def _title(self, way: bytes) -> None:
        if way == b"22":
            self._titles = [*self._titles[-_TITLES + 1 :], self._screen.title]
        elif self._titles:
            self._screen.write(b"\x1b]2;" + self._titles.pop().encode() + b"\x1b\\")
