"""The FIFO by which starters say that a program has started: a quick hint, the truth is in their markers."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

_ROOM = 1 << 20
_F_SETPIPE_SZ = 1031


class StartPipe:
    """Lines `TAG PID` written by starters. Opened for both ends: no starter ever waits for a reader."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, heard: Callable[[str], None]) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        self.path = path
        self._loop = loop
        self._heard = heard
        self._rest = b""
        self._end = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.fcntl(self._end, _F_SETPIPE_SZ, _ROOM)
        except OSError:
            self._rest = b""  # the usual 64 KiB do; more is a kindness to a broker that is stopped for long
        loop.add_reader(self._end, self._ready)

    def close(self) -> None:
        """Listen no more."""
        self._loop.remove_reader(self._end)
        os.close(self._end)

    def _ready(self) -> None:
        try:
            data = self._rest + os.read(self._end, 65536)
        except BlockingIOError:
            return
        *lines, self._rest = data.split(b"\n")
        for line in lines:
            self._heard(line.partition(b" ")[0].decode("ascii", "replace"))
