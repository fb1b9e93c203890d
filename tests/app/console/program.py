"""A real program in a real pseudo-terminal, shown by a terminal view of a test."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import termios
from pathlib import Path

from app.console.terminal.view import TerminalView


class Program:
    """Runs a program behind a view; everything the view types goes to it."""

    def __init__(
        self, view: TerminalView, loop: asyncio.AbstractEventLoop, words: list[str], folder: Path
    ) -> None:
        self._loop = loop
        self.status: int | None = None
        columns, rows = view.terminal.size
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            environment = {
                "PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "COLORTERM": "truecolor", "TMUX_TMPDIR": str(folder),
            }  # fmt: skip
            os.execvpe(words[0], words, environment)
        self._resize(columns, rows)
        os.set_blocking(self._end, False)
        self._view = view
        view.typed.connect(self.write)
        view.answered.connect(self.write)
        view.resized.connect(self._resize)
        loop.add_reader(self._end, self._read)

    def write(self, data: bytes) -> None:
        """Type."""
        os.write(self._end, data)

    def _resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        try:
            data = os.read(self._end, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._view.feed(data)
        else:
            self._loop.remove_reader(self._end)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self) -> None:
        """End it, if it still runs."""
        if self.status is None:
            self._loop.remove_reader(self._end)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._end)
