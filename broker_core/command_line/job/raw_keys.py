"""What is typed in this terminal, key by key or line by line, without holding up what else goes on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import termios
import tty
from collections.abc import AsyncIterator, Iterator

DETACH = b"\x1d"
"""Ctrl-], as in telnet: leave, the program runs on."""
_CHARACTERS = 6
_TURN = 64 * 1024


class RawKeys:
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
def raw_keys(descriptor: int) -> Iterator[RawKeys]:
    """Take every key at once while this lasts."""
    keys = RawKeys(descriptor)
    keys.raw()
    try:
        yield keys
    finally:
        keys.restore()


async def readable(descriptor: int) -> None:
    """Return when there is something to read; files that cannot be waited for always have it."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[None] = loop.create_future()
    try:
        loop.add_reader(descriptor, _done, waiting)
    except (OSError, ValueError):
        return
    try:
        await waiting
    finally:
        loop.remove_reader(descriptor)


async def lines(descriptor: int) -> AsyncIterator[str]:
    """Every line that is typed or piped, without its end."""
    held = b""
    while True:
        await readable(descriptor)
        data = os.read(descriptor, _TURN)
        *whole, held = (held + data).split(b"\n")
        for line in whole:
            yield line.decode(errors="surrogateescape")
        if not data:
            if held:
                yield held.decode(errors="surrogateescape")
            return


def _done(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
