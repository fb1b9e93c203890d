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
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress

from broker_core.worker.scripts.payloads.box_maker import MOST, begin
from broker_core.worker.scripts.payloads.maker_link import BegunBox, Deadline, MakerLink
from broker_core.worker.scripts.payloads.view import Step, steps_of
from broker_core.worker.scripts.plain.records import TYPE_CHECKING

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
    """One of a `BoxMaker`."""

    def __init__(self, link: MakerLink, pid: int, begun: BegunBox) -> None:
        self.pid = pid
        self._link, self._begun = link, begun

    @property
    def lets_next_begin(self) -> bool:
        """As of `RunningBox`."""
        return self._begun.has_ended and self._begun.over != b""

    def is_over(self, seconds: float | None) -> bool:
        """As of `RunningBox`."""
        deadline = Deadline(seconds)
        while not self._begun.has_ended and self._begun.over is None:
            if not self._link.wait(deadline.left()):
                return False
            self._link.hear()
        return True

    def wait(self) -> tuple[int, resource.struct_rusage | None]:
        """As of `RunningBox`."""
        while self._begun.over is None:
            self._link.hear()
        if not self._begun.over:
            self._link.bury()
        words = self._begun.over.split()
        code = int(words[1]) if words else -signal.SIGKILL
        usage = resource.struct_rusage(map(float, words[2:])) if len(words) > 2 else None
        return (128 - code if code < 0 else code), usage

    def kill(self) -> None:
        """As of `RunningBox`."""
        if not self.is_over(0.0):
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Boxes:
    """Has boxes made by a process that lasts."""

    def __init__(self) -> None:
        self._started = 0
        self._words: list[str] | None = None
        self._link: MakerLink | None = None
        self._ready = ""
        """The attempt that needs no more than a word to begin."""

    def begin(
        self, folder: str, box: BoxWords, program: Program, files: Callable[[], Files]
    ) -> RunningBox | None:
        """Start a program in the box of an attempt; None if that cannot be done, and nothing ran.

        `folder`: of the attempt. Raises OSError if a file of its own cannot be opened.
        """
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
        if self._link is None or box[0] != self._words or len(order) >= MOST:
            return True
        opened = list[int]()
        try:
            _open(files, opened)
            if not self._link.order(order, array.array("i", opened).tobytes()):
                return False
        finally:
            for file in set(opened):
                os.close(file)
        self._ready = tag
        return True

    def _begin(self, tag: str) -> RunningBox | None:
        if self._link is None:
            return None
        self._ready = ""
        try:
            return MadeBox(self._link, *self._link.begin(marshal.dumps((tag,))))
        except OSError:
            self._give_up()
            return None

    def _start(self, folder: str, box: BoxWords) -> None:
        if self._link is not None or self._started >= _MOST_STARTS:
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
            if status == 0:
                self._link, self._words = MakerLink(ours), box[0]
        except OSError:
            pass  # it is gone
        self._started += 1
        if self._link is None:
            self._started = _MOST_STARTS
            ours.close()

    def _give_up(self) -> None:
        """What made boxes ends itself, if it is there."""
        if self._link is not None:
            self._link.close()
            self._link = None
            self._ready = ""


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

