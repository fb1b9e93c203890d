"""Keys of this terminal as they are typed, and back again."""

from __future__ import annotations

import contextlib
import os
import termios
import tty
from collections.abc import Iterator


@contextlib.contextmanager
def raw_keys(descriptor: int) -> Iterator[bool]:
    """Take every key at once while this lasts; tells whether there is a terminal at all."""
    if not os.isatty(descriptor):
        yield False
        return
    before = termios.tcgetattr(descriptor)
    tty.setraw(descriptor)
    try:
        yield True
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
