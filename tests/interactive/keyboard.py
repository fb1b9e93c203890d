"""A keyboard for commands that read from a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
from collections.abc import Callable

from tests.command_line.calling import command


class Keyboard:
    """The program on a terminal that the test holds."""

    def __init__(self, *words: str, **variables: str) -> None:
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.opened(slave)
        self.process = subprocess.Popen(
            command(*words),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=os.environ | variables,
        )
        os.close(slave)
        os.set_blocking(self.master, False)
        self.seen = b""

    def opened(self, slave: int) -> None:
        """Called with the terminal before the program has it."""

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def shows(self, text: bytes) -> Callable[[], bool]:
        def shown() -> bool:
            try:
                self.seen += os.read(self.master, 1 << 16)
            except (BlockingIOError, OSError):
                pass
            return text in self.seen

        return shown

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
