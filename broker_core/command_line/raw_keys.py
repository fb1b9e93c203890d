"""Keys of this terminal as they are typed, and back again."""

from __future__ import annotations

import contextlib
import os
import termios
import tty
from collections.abc import Iterator

DETACH = b"\x1d"
"""Ctrl-], as in telnet: leave, the program runs on."""
_CHARACTERS = 6


class Keys:
    """The keyboard of a terminal, if there is one at all."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before = termios.tcgetattr(descriptor) if os.isatty(descriptor) else None
        self.are_there = self._before is not None

    def raw(self) -> None:
        """Take every key at once."""
        if self._before is not None:
            tty.setraw(self._descriptor)

    def by_lines(self) -> None:
        """Have lines edited and shown here until Enter, for a program without a terminal; DETACH ends one."""
        if self._before is not None:
            wanted = [*self._before[:_CHARACTERS], list(self._before[_CHARACTERS])]
            wanted[_CHARACTERS][termios.VEOL] = DETACH
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, wanted)

    def restore(self) -> None:
        """As it was."""
        if self._before is not None:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)


@contextlib.contextmanager
def raw_keys(descriptor: int) -> Iterator[Keys]:
    """Take every key at once while this lasts."""
    keys = Keys(descriptor)
    keys.raw()
    try:
        yield keys
    finally:
        keys.restore()
