"""A process that makes a box for each program of a line (CB-SEC), as bubblewrap does, without starting that.

It lives in namespaces of its own, where it has all rights, and its programs none. On its standard input a
first message has it begin, and it answers `ready`. Then an order (tag, words and environment by `marshal`,
with three open files) has it make a box, also while a program runs in the one before. It tells `made` with
the credentials of the program's process, and a pipe: a byte there has the program begin, which an order with
the tag alone tells. It tells `ended`, when the next one may begin, and `over STATUS USAGE...` when no process
is left of the box. Each has mounts, processes and IPC of its own. They end with this process, which ends with
the one that wants them, and also where a box cannot be made.
"""

from __future__ import annotations

import gc
import marshal
import os
import select
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from ctypes import memmove
from itertools import cycle

from broker_core.worker.boxing import mounts
from broker_core.worker.boxing.first_process import FirstProcess
from broker_core.worker.boxing.kernel_calls import give_up_new_privileges
from broker_core.worker.boxing.keyrings import Keyrings
from broker_core.worker.scripts.payloads.view import OF_PROCESSES, PROCESSES, BoxView, Step
from broker_core.worker.scripts.payloads.waiting_program import WaitingProgram
from broker_core.worker.scripts.plain.records import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

ROOM = b"CROSSDESK_ROOM="
"""Begins the variable, of those that this process was started with, in whose place the first process of a box
has the mark of its attempt."""
_MARK = b"CROSSDESK_ATTEMPT="
_MOST_MARK = 255
_ENVIRONMENT = 47
"""Field of /proc/self/stat behind the name of the process: where its environment is in memory."""
MOST = 1 << 17
"""Bytes of an order at the most."""
_IGNORED = (
    *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2),
    *(signal.SIGPIPE, signal.SIGXFSZ),
)
_RESET = (*_IGNORED, signal.SIGCHLD)
_FILES = 3
_ROOM_FOR_FILES = socket.CMSG_SPACE(_FILES * struct.calcsize("i"))
_SOON = 0.01
"""Seconds in which the next program begins, if there is one."""
_MOUNTS, _CHILDREN = f"{PROCESSES}/self/ns/mnt", b"/1/task/1/children"
_OWN = (("mnt", mounts.NEW_MOUNTS), ("ipc", mounts.NEW_IPC), ("pid", mounts.NEW_PIDS))
"""Namespaces to which it comes back from a box, of which nothing is left then."""


class BoxHold:
    """The first process of a box, with which the kernel ends all others in it, and its mounts."""

    def __init__(self, first: int, process: int, processes: bytes) -> None:
        """`process`: a descriptor of it; `processes`: where /proc of the box is now. Raises OSError."""
        self.first, self.process = first, process
        self._is_over = False
        self._mounted = os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        self._children: int | None = None
        with suppress(FileNotFoundError):  # some kernels have no such file
            self._children = os.open(processes + _CHILDREN, os.O_RDONLY | os.O_CLOEXEC)

    @property
    def has_orphans(self) -> bool:
        """Something may be left of a program that has ended."""
        return self._children is None or bool(os.pread(self._children, 1, 0))

    def kill(self) -> None:
        """End all processes."""
        os.kill(self.first, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until they are no more, if that was not done."""
        if not self._is_over:
            os.waitpid(self.first, 0)
            self._is_over = True
            for file in (self.process, self._children):
                if file is not None:
                    os.close(file)

    def unmount(self) -> None:
        """Give back the mounts, when nothing else is left. The kernel takes longer for it than to start a
        program."""
        os.close(self._mounted)


class ReadyBox:
    """A box whose program has a process, and did not begin as far as this process knows."""

    def __init__(self, tag: str, hold: BoxHold, program: WaitingProgram) -> None:
        self.tag, self.hold, self.program = tag, hold, program

    def drop(self) -> None:
        """It is not wanted, and does not begin any more."""
        self.hold.kill()
        os.waitpid(self.program.pid, 0)
        self.hold.wait()
        self.hold.unmount()


class BoxMaker:
    """Carries out orders, one after the other."""

    def __init__(self, view: BoxView, orders: socket.socket) -> None:
        self._view, self._orders = view, orders
        self._own = [
            (os.open(f"{PROCESSES}/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC), kind) for name, kind in _OWN
        ]
        self._settings = list(_opened("oom_score_adj", "coredump_filter", "autogroup"))
        self._usual = self._traces()
        self._keyrings = Keyrings()
        # One may wait in the next box while the other one is in that of a program.
        self._firsts = cycle([FirstProcess(view.processes, OF_PROCESSES) for _ in range(2)])
        self._next: ReadyBox | None = None
        self._ending: tuple[BoxHold, bytes] | None = None
        """A box whose program has ended, and whose processes are killed; what is told once they are gone."""
        self._mounted: BoxHold | None = None
        """Nothing but its mounts is left."""
        self._mark = _room_for_mark()

    def run(self) -> None:
        """Make boxes until there are no more orders. Raises OSError."""
        self._lay_out()
        self._orders.send(b"ready")
        while (order := self._receive()) is not None:
            (tag, *program), files = order
            if program:
                self._make_ready(tag, program, files)
            elif not self._carry_out(tag):
                break
        self._bury()

    def _receive(self) -> tuple[list[Any], list[int]] | None:
        """The next order, and its files; None if there will be none."""
        if self._ending is not None:
            # The next program need not wait for that.
            orders, process = self._orders.fileno(), self._ending[0].process
            if orders not in select.select([orders, process], [], [])[0]:
                self._bury()
        if self._mounted is not None and not select.select([self._orders], [], [], _SOON)[0]:
            self._unmount()
        text, more, _, __ = self._orders.recvmsg(MOST, _ROOM_FOR_FILES, socket.MSG_CMSG_CLOEXEC)
        if not text:
            return None
        files = [file for *_, data in more for (file,) in struct.iter_unpack("i", data)]
        order = marshal.loads(text)  # noqa: S302 - its parent wrote it
        if len(files) != (_FILES if len(order) > 1 else 0):
            raise OSError("a program would have what this process has in their stead")
        return order, files

    def _traces(self) -> list[bytes]:
        """What programs may set of the first process of their box, and with it of all with whose memory or
        session it works: whom the kernel ends when it wants memory, what it writes of whom it ends, and who
        waits for a processor."""
        return [os.pread(file, 256, 0) for file in self._settings]

    def _make_ready(self, tag: str, program: list[Any], files: list[int]) -> None:
        """Make the next box, instead of one that was made for another. Raises OSError."""
        self._drop_next()
        hold, (words, known) = self._make(tag), program
        waiting = WaitingProgram(words, known, files, _RESET)
        self._next = ReadyBox(tag, hold, waiting)
        for file in files:
            os.close(file)
        self._tell_made(waiting)
        self._leave_box()

    def _drop_next(self) -> None:
        unused, self._next = self._next, None
        if unused is not None:
            unused.drop()

    def _carry_out(self, tag: str) -> bool:
        """Mind the program that begins; false if there cannot be a next one."""
        box, self._next = self._next, None
        if box is None or box.tag != tag:
            return False
        self._carry_mark(tag)
        self._bury()
        self._unmount()
        goes_on = True
        try:
            self._make_next_meanwhile(box.program.pid)
        except OSError:
            goes_on = False  # this program does
        _, code, spent = os.wait4(box.program.pid, 0)
        has_orphans = box.hold.has_orphans
        box.hold.kill()
        if has_orphans:
            box.hold.wait()  # what they have set is known when they are no more
        if not (goes_on and self._is_unchanged()):
            self._drop_next()
            goes_on = False
        self._carry_mark("")
        self._orders.send(b"ended")
        over = f"over {os.waitstatus_to_exitcode(code)} {' '.join(map(str, spent))}".encode()
        self._ending = box.hold, over
        if has_orphans:
            self._bury()
        return goes_on

    def _is_unchanged(self) -> bool:
        """The next program gets nothing that one before has set. What it could not undo ends this process."""
        if self._traces() != self._usual:
            return False
        try:
            self._keyrings.clear()
        except OSError:
            return False  # a program has made that impossible
        return True

    def _bury(self) -> None:
        """Wait until no process is left of the box whose program has ended, and tell so."""
        if self._ending is not None:
            self._mounted, answer = self._ending
            self._ending = None
            self._mounted.wait()
            self._orders.send(answer)

    def _make_next_meanwhile(self, pid: int) -> None:
        """Make the next box if that is wanted before a program has ended. Raises OSError."""
        process = os.pidfd_open(pid)
        try:
            wanted = process not in select.select([process, self._orders.fileno()], [], [])[0]
        finally:
            os.close(process)
        if wanted:
            order = self._receive()
            if order is None:
                os._exit(1)  # nobody wants the program any more
            (tag, *program), files = order
            if not program:
                raise OSError("no box is ready")
            self._make_ready(tag, program, files)

    def _tell_made(self, program: WaitingProgram) -> None:
        """The kernel tells who hears of it which process that is outside."""
        who = struct.pack("iii", program.pid, os.getuid(), os.getgid())
        gate = struct.pack("i", program.gate)
        kinds = (socket.SCM_CREDENTIALS, who), (socket.SCM_RIGHTS, gate)
        self._orders.sendmsg([b"made"], [(socket.SOL_SOCKET, kind, data) for kind, data in kinds])
        os.close(program.gate)

    def _leave_box(self) -> None:
        """Come back from a box, and begin the next one. Raises OSError."""
        for file, kind in self._own:
            mounts.enter(file, kind)
        self._lay_out()

    def _lay_out(self) -> None:
        """Begin the next box, in namespaces that no program is in: what all of them show."""
        usual = os.umask(0o022)
        mounts.unshare(mounts.NEW_MOUNTS | mounts.NEW_IPC)
        self._view.lay_out()
        os.umask(usual)

    def _make(self, tag: str) -> BoxHold:
        """Finish a box, and go into it."""
        usual = os.umask(0o022)
        self._view.show(tag)
        os.umask(usual)
        first, process = next(self._firsts).start()
        mounts.enter(process, mounts.NEW_PIDS)
        hold = BoxHold(first, process, self._view.processes)
        self._view.enter(tag)
        return hold

    def _unmount(self) -> None:
        mounted, self._mounted = self._mounted, None
        if mounted is not None:
            mounted.unmount()

    def _carry_mark(self, tag: str) -> None:
        """Have who looks for what belongs to an attempt find the first process of the box, and this one."""
        text = tag.encode()
        if len(text) > _MOST_MARK:
            raise ValueError("there is no room for the mark")
        memmove(self._mark, text.ljust(_MOST_MARK, b"\0"), _MOST_MARK)


def _room_for_mark() -> int:
    """Where in memory there is room for the mark of an attempt, in what others see as the environment of this
    process; it loses the one that it had. Raises ValueError if there is none."""
    with open(f"{PROCESSES}/self/environ", "rb") as file:
        found = file.read()
    with open(f"{PROCESSES}/self/stat", "rb") as file:
        start = int(file.read().rpartition(b") ")[2].split()[_ENVIRONMENT])
    room = 0
    for text in found.split(b"\0"):
        if text.startswith(ROOM) and len(text) >= len(_MARK) + _MOST_MARK:
            memmove(start, _MARK.ljust(len(text), b"\0"), len(text))
            room = start + len(_MARK)
        elif text.startswith(_MARK):
            memmove(start, bytes(len(text)), len(text))
        start += len(text) + 1
    if not room:
        raise ValueError("there is no room for a mark")
    return room


def _opened(*names: str) -> Iterator[int]:
    """Files of this process in /proc; some kernels have not all of them."""
    for name in names:
        with suppress(FileNotFoundError):
            yield os.open(f"{PROCESSES}/self/{name}", os.O_RDONLY | os.O_CLOEXEC)


def begin(attempts: str, steps: list[Step]) -> None:
    """Have a child make boxes for attempts in a folder, and end; raises OSError where that cannot be done."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    account = os.getuid(), os.getgid()
    mounts.unshare(mounts.NEW_USERS | mounts.NEW_MOUNTS)
    mounts.be_account((0, 0), account)
    try:
        mounts.unshare(mounts.NEW_CGROUPS)
    except OSError:
        pass  # as for bubblewrap: where there are any
    view = BoxView(steps, attempts)
    view.prepare()
    # Devices wanted a root; programs are who they are outside. Nobody can take away what is mounted so far.
    mounts.unshare(mounts.NEW_USERS | mounts.NEW_MOUNTS | mounts.NEW_IPC | mounts.NEW_PIDS)
    mounts.be_account(account, (0, 0), PROCESSES)
    give_up_new_privileges()
    mounts.leave_no_rights_to_programs()
    if os.fork():
        return
    orders = socket.socket(fileno=os.dup(0))
    # Whoever wants the boxes is the parent by now.
    if orders.recv(MOST):
        mounts.end_with_parent()
        os.setsid()
        gc.disable()
        gc.freeze()
        BoxMaker(view, orders).run()
