"""The boxes of a line's programs: by what makes them all if that can be done, else by bubblewrap for each."""

from __future__ import annotations

import array
import functools
import marshal
import os
import resource
import select
import signal
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress

from broker_core.worker.scripts.payloads.box_maker import MOST, begin
from broker_core.worker.scripts.payloads.view import Step, steps_of
from broker_core.worker.scripts.plain.records import TYPE_CHECKING

_CREDENTIALS = struct.Struct("iii")
_MOST_ANSWER = 4096
_MOST_STARTS = 3
"""Of what makes boxes, which was killed before."""

if TYPE_CHECKING:
    from typing import Any

Files = Sequence[tuple["Any", ...]]
"""Where standard input, output and error lead, as os.posix_spawn() wants it."""
BoxWords = tuple[list[str], str]
"""Words of bubblewrap, and what stands in them for the folder of an attempt."""
Program = tuple[list[str], dict[str, str]]
"""Its words and its environment."""


class RunningBox(ABC):
    """A box with a program."""

    pid: int
    """Process that ends the box with it, and leads its session."""

    @property
    @abstractmethod
    def lets_next_begin(self) -> bool:
        """The program has ended, and the next one may be started before `wait`."""

    @abstractmethod
    def is_over(self, seconds: float | None) -> bool:
        """Wait for the end of the program for so long; None: for good."""

    @abstractmethod
    def wait(self) -> tuple[int, resource.struct_rusage | None]:
        """Wait until nothing is left of the box: status as of a shell, and what the program used if known."""

    @abstractmethod
    def kill(self) -> None:
        """Kill all in it."""


class OwnBox(RunningBox):
    """One of bubblewrap, which is a child of this process."""

    lets_next_begin = False

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._number = os.pidfd_open(pid)

    def is_over(self, seconds: float | None) -> bool:
        """As of `RunningBox`."""
        return bool(select.select([self._number], [], [], seconds)[0])

    def wait(self) -> tuple[int, resource.struct_rusage | None]:
        """As of `RunningBox`."""
        os.close(self._number)
        _, status, usage = os.wait4(self.pid, 0)
        # The kernel ends a box with its program; what it leaves is this process's then.
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return (128 - code if code < 0 else code), usage

    def kill(self) -> None:
        """As of `RunningBox`."""
        os.kill(self.pid, signal.SIGKILL)


class MadeBox(RunningBox):
    """One of a `BoxMaker`, which tells of it on a socket."""

    def __init__(self, maker: socket.socket, before: MadeBox | None) -> None:
        """`before`: the last one of that maker. Raises OSError if it did not come about, and nothing ran."""
        self._maker, self._before = maker, before
        self._has_ended = False
        self._over: bytes | None = None
        text, self._maker_pid = self._answer()
        if text != b"made":
            raise OSError("it is gone")
        self.pid = 0
        with suppress(OSError):
            text, self.pid = self._answer()
        if text != b"begun":
            # Something may have run. Nobody else is in the session of what made the box.
            self.pid, self._over = self._maker_pid, b""

    @property
    def lets_next_begin(self) -> bool:
        """As of `RunningBox`."""
        return self._has_ended and self._over != b""

    def is_over(self, seconds: float | None) -> bool:
        """As of `RunningBox`."""
        if self._has_ended or self._over is not None:
            return True
        if select.select([self._maker], [], [], seconds)[0]:
            self._has_ended = self._hear() == b"ended"
        return self._has_ended or self._over is not None

    def _hear(self) -> bytes:
        """What its maker tells next, unless that is all."""
        try:
            text, _ = self._answer()
        except OSError:
            text = b""  # it was killed, and all in the box with it
        if text != b"ended":
            self._over = text
        return text

    def _answer(self) -> tuple[bytes, int]:
        """What its maker tells of it."""
        while True:
            text, process = _answer(self._maker)
            before, self._before = self._before, None
            if before is None or before.is_buried:
                return text, process
            if not before.is_buried_by(text):
                self._before = before
            elif text:
                continue
            return text, process

    @property
    def is_buried(self) -> bool:
        """How it ended is known."""
        return self._over is not None

    def is_buried_by(self, text: bytes) -> bool:
        """True for an answer that tells how it ended, though the next one has begun."""
        if text and not text.startswith(b"over "):
            return False
        self._over = text
        return True

    def hear_all(self) -> None:
        """Hear how it ended."""
        while not self.is_buried:
            self._hear()

    def wait(self) -> tuple[int, resource.struct_rusage | None]:
        """As of `RunningBox`."""
        self.hear_all()
        if not self._over:
            _bury(self._maker_pid)
        words = (self._over or b"").split()
        code = int(words[1]) if words else -signal.SIGKILL
        usage = resource.struct_rusage(map(float, words[2:])) if len(words) > 2 else None
        return (128 - code if code < 0 else code), usage

    def kill(self) -> None:
        """As of `RunningBox`."""
        if not self.is_over(0.0):
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Boxes:
    """Has boxes made by a process that lasts, once there are two: for a single one it is not worth it."""

    def __init__(self) -> None:
        self._asked = self._started = 0
        self._words: list[str] | None = None
        self._maker: socket.socket | None = None
        self._maker_pid = 0
        self._last: MadeBox | None = None
        self._ready = ""
        """The attempt that needs no more than a word to begin."""

    def begin(
        self, folder: str, box: BoxWords, program: Program, files: Callable[[], Files]
    ) -> RunningBox | None:
        """Start a program in the box of an attempt; None if that cannot be done, and nothing ran.

        `folder`: of the attempt. Raises OSError if a file of its own cannot be opened.
        """
        self._asked += 1
        if self._asked > 1:
            self._start(folder, box)
        tag = os.path.basename(folder)
        if self._ready != tag and not self.make_ready(folder, box, program, files()):
            self._give_up()
        return self._begin(tag) if self._ready == tag else None

    def make_ready(self, folder: str, box: BoxWords, program: Program, files: Files) -> bool:
        """Have all done for a program that is likely to be the next one, if its box is of the usual kind.

        False: what makes boxes is gone. Raises OSError as `begin`.
        """
        self._start(folder, box)
        tag = os.path.basename(folder)
        order = marshal.dumps((tag, *program))
        if self._maker is None or box[0] != self._words or len(order) >= MOST:
            return True
        opened = list[int]()
        try:
            _open(files, opened)
            if not _send(self._maker, order, opened):
                return False
        finally:
            for file in set(opened):
                os.close(file)
        self._ready = tag
        return True

    def _begin(self, tag: str) -> RunningBox | None:
        if self._maker is None:
            return None
        self._ready = ""
        try:
            self._maker.send(marshal.dumps((tag,)))
            self._last = MadeBox(self._maker, self._last)
            return self._last
        except OSError:
            self._give_up()
            return None

    def _start(self, folder: str, box: BoxWords) -> None:
        if self._maker is not None or self._started >= _MOST_STARTS:
            return
        steps = steps_of(box[0][1:], box[1])
        if steps is None:
            self._started = _MOST_STARTS
            return
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            return
        try:
            with theirs:
                _, status = os.waitpid(_forked(theirs, os.path.dirname(folder), steps), 0)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            ours.send(b"begin")
            text, self._maker_pid = _answer(ours) if status == 0 else (b"", 0)
            if text == b"ready":
                self._maker, self._words = ours, box[0]
        except OSError:
            pass  # it is gone
        self._started += 1
        if self._maker is None:
            self._started = _MOST_STARTS
            ours.close()

    def _give_up(self) -> None:
        """What made boxes ends itself, if it is there."""
        if self._last is not None:
            self._last.hear_all()
        if self._maker is not None:
            self._maker.close()
            self._maker = self._last = None
            self._ready = ""
            _bury(self._maker_pid)


@functools.cache
def boxes() -> Boxes:
    """Those of this process."""
    return Boxes()


def _forked(orders: socket.socket, attempts: str, steps: list[Step]) -> int:
    """Have a child, whose pid this is, leave a maker of boxes as its own. It has no files but the orders."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        os.dup2(orders.fileno(), 0)
        nothing = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(nothing, number)
        for file in map(int, os.listdir("/proc/self/fd")):
            if file > 2:
                with suppress(OSError):  # that of the list itself
                    os.close(file)
        begin(attempts, steps)
        status = 0
    finally:
        os._exit(status)


def _open(files: Files, opened: list[int]) -> None:
    """Open what a program has as standard input, output and error."""
    for kind, number, *where in files:
        if kind == os.POSIX_SPAWN_OPEN:
            path, flags, mode = where
            opened.append(os.open(path, flags | os.O_CLOEXEC, mode))
        else:
            opened.append(opened[number])


def _answer(maker: socket.socket) -> tuple[bytes, int]:
    """What a maker tells, and the process of which, itself where it names no other; empty: it is gone."""
    room = socket.CMSG_SPACE(_CREDENTIALS.size)
    try:
        text, more, _, __ = maker.recvmsg(_MOST_ANSWER, room)
    except ConnectionResetError:  # it ended without a look at all that it was sent; what it told is there yet
        text, more, _, __ = maker.recvmsg(_MOST_ANSWER, room)
    return text, _CREDENTIALS.unpack(more[0][2])[0] if text else 0


def _bury(maker: int) -> None:
    """Wait until a maker that ends, and with it all that it made, is no more. This process is its parent."""
    with suppress(ChildProcessError):
        os.waitpid(maker, 0)


def _send(maker: socket.socket, order: bytes, files: list[int]) -> bool:
    """Send an order; false if that fails."""
    try:
        maker.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])
    except OSError:
        return False
    return True
