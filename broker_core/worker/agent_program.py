"""The user's program below the agent: on a terminal, or on three pipes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import ClassVar

STDOUT, STDERR = 1, 2
TURN = 64 * 1024
"""Bytes that are read of a stream before others have their turn."""
LAST_TURNS = 64
"""Turns of reading after its end; more could only come from a child that it left behind."""
FULL = 256 * 1024
"""Bytes of input that wait for the program before desks have to wait."""
_LIBRARIES = ("/usr/libexec/coreutils/libstdbuf.so", "/usr/lib/coreutils/libstdbuf.so")
"""Library that makes a program which was built for files write its lines at once (CB-BYP-01)."""


class InputState(Enum):
    """Whether the program's input takes more."""

    OPEN = "open"
    FULL = "full"
    """Enough waits already; `hungry` tells of its end."""
    CLOSING = "closing"
    """No input will follow what waits."""


class Listening(Enum):
    """Whether what the program writes is read."""

    NO = "no"
    YES = "yes"
    OVER = "over"
    """All has been heard."""


class UserProgram:
    """A running program. Started at once; read when `run` is called with who listens."""

    _all: ClassVar[set[UserProgram]] = set()
    """Those that run: a loop has one handler of the signal that tells of ended children."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        terminal: bool,
        size: tuple[int, int],
        directory: Path | None = None,
        boxed: bool = False,
    ) -> None:
        """`boxed`: the words begin with those of `box.sh`, which takes the terminal within the box."""
        self.terminal = terminal
        self._takes_terminal = terminal and not boxed
        self._directory = directory
        self.status: int | None = None
        """Exit code, or the negative number of the signal that ended it; None while it runs."""
        self._input = bytearray()
        self._input_state = InputState.OPEN
        self._listening = Listening.NO
        self._turns = LAST_TURNS
        self._sources: dict[int, int] = {}
        """Descriptors that are read, each with its stream."""
        self._sink = self._slave = -1
        if terminal:
            self._start_terminal(words, environment, size)
        else:
            self._start_pipes(words, environment)

    def run(self, heard: Callable[[int, bytes], None], ended: Callable[[], None]) -> None:
        """Call `heard` with stream and bytes, and `ended` once, when all has been heard."""
        self._loop = asyncio.get_running_loop()
        self._heard, self._ended = heard, ended
        for descriptor in self._sources:
            os.set_blocking(descriptor, False)
        os.set_blocking(self._sink, False)
        self.listen(True)
        self._all.add(self)
        self._loop.add_signal_handler(signal.SIGCHLD, self._children)
        self._child()

    def listen(self, wanted: bool) -> None:
        """Read what it writes, or let it wait; what it left at its end is read in any case."""
        listening = Listening.YES if wanted else Listening.NO
        if self._listening in (listening, Listening.OVER):
            return
        self._listening = listening
        for descriptor in self._sources:
            if wanted:
                self._loop.add_reader(descriptor, self._read, descriptor)
            else:
                self._loop.remove_reader(descriptor)

    def write(self, data: bytes) -> bool:
        """Pass input on; False if enough is waiting already, until `hungry` is called."""
        if self._input_state is not InputState.CLOSING and self._sink >= 0:
            self._input += data
            self._input_state = InputState.FULL if len(self._input) >= FULL else InputState.OPEN
            self._feed()
        return self._input_state is not InputState.FULL

    hungry: Callable[[], None] = staticmethod(lambda: None)
    """Called when input that waited has been taken."""

    def end_input(self) -> None:
        """No input will follow."""
        if self.terminal:
            self.write(b"\x04")
        else:
            self._input_state = InputState.CLOSING
            self._feed()

    def resize(self, columns: int, rows: int) -> None:
        """Tell the terminal its size."""
        if self.terminal:
            fcntl.ioctl(self._sink, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: int) -> None:
        """Send a signal to what runs in the foreground, unless it has ended: its number may be another's."""
        if self.status is not None:
            return
        group = self.pid
        if self.terminal:
            with contextlib.suppress(OSError):
                group = os.tcgetpgrp(self._sink)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group or self.pid, number)

    def kill(self) -> None:
        """End it for sure."""
        self.signal(signal.SIGKILL)
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give its files back, once it has ended and all was heard."""
        for descriptor in self._sources:
            self._loop.remove_reader(descriptor)
        if self._sink >= 0:
            self._loop.remove_writer(self._sink)
        for descriptor in {*self._sources, self._sink, self._slave} - {-1}:
            os.close(descriptor)
        self._sources, self._sink, self._slave = {}, -1, -1

    def _start_terminal(self, words: Sequence[str], env: Mapping[str, str], size: tuple[int, int]) -> None:
        master, slave = os.openpty()
        self._sources, self._sink = {master: STDOUT}, master
        self.resize(*size)
        self.pid = self._spawn(words, env, (slave, slave, slave))
        # Our own end of the terminal stays open: a program may close all of its, and go on.
        self._slave = slave

    def _start_pipes(self, words: Sequence[str], env: Mapping[str, str]) -> None:
        (taken, self._sink), (out, given), (err, told) = os.pipe(), os.pipe(), os.pipe()
        self._sources = {out: STDOUT, err: STDERR}
        self.pid = self._spawn(words, _at_once(env), (taken, given, told))
        for descriptor in (taken, given, told):
            os.close(descriptor)

    def _spawn(self, words: Sequence[str], env: Mapping[str, str], files: tuple[int, int, int]) -> int:
        def begin() -> None:
            """What a batch system or a shell had the agent ignore or hold back, the program does not."""
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            if self._takes_terminal:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self._process = subprocess.Popen(
            words,
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            env=env,
            cwd=self._directory,
            start_new_session=True,
            preexec_fn=begin,
        )
        return self._process.pid

    def _read(self, descriptor: int) -> None:
        parts: list[bytes] = []
        size = 0
        while size < TURN:
            try:
                part = os.read(descriptor, TURN)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                part = b""
            if not part:
                self._loop.remove_reader(descriptor)
                stream = self._sources.pop(descriptor)
                if not self.terminal:
                    os.close(descriptor)
                if parts:
                    self._heard(stream, b"".join(parts))
                return
            parts.append(part)
            size += len(part)
        if parts:
            self._heard(self._sources[descriptor], b"".join(parts))

    def _feed(self) -> None:
        while self._input and self._sink >= 0:
            try:
                del self._input[: os.write(self._sink, self._input)]
            except BlockingIOError:
                self._loop.add_writer(self._sink, self._feed)
                self._relieve()
                return
            except OSError:
                # It reads no more; what was typed has nobody to go to.
                self._input.clear()
        if self._sink >= 0:
            self._loop.remove_writer(self._sink)
        if self._input_state is InputState.CLOSING and self._sink >= 0:
            os.close(self._sink)
            self._sink = -1
        self._relieve()

    def _relieve(self) -> None:
        """Ask for more as soon as there is room, once for each time that there was none."""
        if self._input_state is InputState.FULL and len(self._input) < FULL:
            self._input_state = InputState.OPEN
            self.hungry()

    @classmethod
    def _children(cls) -> None:
        for program in list(cls._all):
            program._child()

    def _child(self) -> None:
        if self.status is None and self._process.poll() is not None:
            self.status = self._process.returncode
            self._all.discard(self)
            self._loop.call_soon(self._last)

    def _last(self) -> None:
        """Hear what is left in the pipes, without waiting for children that hold them open, or for desks."""
        left = [descriptor for descriptor in self._sources if _readable(descriptor)]
        for descriptor in left:
            self._read(descriptor)
        self._turns -= 1
        if left and self._turns > 0:
            self._loop.call_soon(self._last)
            return
        self._listening = Listening.OVER
        for descriptor in self._sources:
            self._loop.remove_reader(descriptor)
        self._ended()


def _readable(descriptor: int) -> bool:
    asked = select.poll()
    asked.register(descriptor, select.POLLIN)
    return any(events & select.POLLIN for _, events in asked.poll(0))


def _at_once(env: Mapping[str, str]) -> dict[str, str]:
    """The environment in which programs write lines and prompts at once, though they write to a pipe."""
    given = {"PYTHONUNBUFFERED": "1", **env}
    library = next((path for path in _LIBRARIES if os.path.exists(path)), "")
    if library and "LD_PRELOAD" not in given:
        given |= {"LD_PRELOAD": library, "_STDBUF_O": "L", "_STDBUF_I": "0"}
    return given
