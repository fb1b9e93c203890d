"""Takes claims of slot1 from a glidein, whose shell writes them to its FIFO `orders`.

Lines are `CLAIM TAG KNOWN SINCE CHECKED MOST`; the last four are what the shell knows of the glidein's lease,
in seconds since the machine started. Each is carried out by a process of its own, which is the minder of its
claims and then waits for the next one.

Meanwhile it has the shell look at its claims and renew its leases: a line in the FIFO `bell` for each look.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import select
import signal
import socket
import termios
import time

from broker_core.worker.scripts.payloads.box_maker import ROOM
from broker_core.worker.scripts.payloads.lines import ClaimLine, GlideinLease, is_there
from broker_core.worker.scripts.payloads.order_file import read_order
from broker_core.worker.scripts.payloads.run import be_minder, box_words
from broker_core.worker.scripts.payloads.slot_group import slot_group
from broker_core.worker.scripts.plain.records import write

_PERIOD_FIRST, _PERIOD, _PERIOD_AT_WORK = 0.05, 0.2, 0.4
"""Seconds between looks of the shell at its claims: at first, as the jobs that it was started for come; then;
and while one is carried out here, behind which the next ones in line begin without it."""
_FIRST = 20
"""Looks until the first claim is expected to have come."""
_PUT_AWAY = 1.0
"""Seconds between two looks at claims whose end the broker has heard."""
_READY = b"."
_MOST = 4096
"""Bytes of a line at the most."""


class Bell:
    """Has the shell look at its claims; that takes the end of what rings for the end of the pipe."""

    def __init__(self, path: str) -> None:
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._due = 0.0
        self.rung = 0
        """How often it was."""

    def left(self) -> float:
        """Seconds until it is to be rung."""
        return max(0.0, self._due - time.monotonic())

    def hurry(self) -> None:
        """Have it rung at once."""
        self._due = 0.0

    def ring(self, period: float) -> None:
        """Ring it if it is time, and the shell has heard it the last time; again in `period` seconds."""
        if self.left():
            return
        self._due = time.monotonic() + period
        waiting = fcntl.ioctl(self._pipe, termios.FIONREAD, bytes(4))
        if not any(waiting):
            os.write(self._pipe, b"\n")
            self.rung += 1

    def wait(self) -> None:
        """Ring it, and do nothing else, until it is time for the next."""
        select.select([], [], [], self.left())
        self.ring(_PERIOD)

    def close(self) -> None:
        """Leave it to the other process that has it."""
        os.close(self._pipe)


class Server:
    """Gives each line to a process that has nothing to do, or to a new one."""

    def __init__(self, glidein: str, shell: int, groups: str) -> None:
        """`shell`: the process of the glidein; `groups`: where minders have control groups, or nothing."""
        self._glidein, self._shell, self._home, self._groups = glidein, shell, os.getcwd(), groups
        self._own = f"{self._home}/glideins/{glidein}"
        self._orders = os.open(f"{self._own}/orders", os.O_RDWR | os.O_CLOEXEC)
        self._bell = Bell(f"{self._own}/bell")
        self._minders: list[socket.socket] = []
        self._idle: list[socket.socket] = []
        self._rest = b""
        self._put_away_at = 0.0

    def run(self) -> None:
        """Serve as long as the glidein is there."""
        write(f"{self._own}/starter", f"{os.getpid()}\n")
        while is_there(self._shell):
            watched = {one.fileno(): one for one in self._minders}
            ready = select.select([self._orders, *watched], [], [], self._bell.left())[0]
            self._bell.ring(self._period())
            self._put_away()
            for number in ready:
                if number in watched:
                    self._hear(watched[number])
            if self._orders in ready:
                self._take()

    def _period(self) -> float:
        if len(self._idle) < len(self._minders):
            return _PERIOD_AT_WORK
        return _PERIOD_FIRST if not self._minders and self._bell.rung < _FIRST else _PERIOD

    def _put_away(self) -> None:
        """As `put_away` in glidein.sh, which looks at claims meanwhile and begins those that are there: so
        they go first."""
        if time.monotonic() < self._put_away_at:
            return
        self._put_away_at = time.monotonic() + _PUT_AWAY
        with contextlib.suppress(OSError):  # the glidein leaves
            for claim in os.listdir(f"{self._own}/heard"):
                with contextlib.suppress(OSError):  # there is no room: it is tried again
                    self._forget(claim)

    def _forget(self, claim: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self._own}/claims/{claim}")
        if os.path.exists(f"{self._own}/taken/{claim}/exit"):
            os.rename(f"{self._own}/taken/{claim}", f"{self._own}/past/{claim}")
        os.unlink(f"{self._own}/heard/{claim}")

    def _hear(self, minder: socket.socket) -> None:
        """It has nothing to do any more, or is gone."""
        try:
            word = minder.recv(1)
        except OSError:
            word = b""
        self._bell.hurry()
        if word:
            self._idle.append(minder)
            return
        self._minders.remove(minder)
        if minder in self._idle:
            self._idle.remove(minder)
        minder.close()

    def _take(self) -> None:
        self._rest += os.read(self._orders, 65536)
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            _prepare_box(f"{self._home}/attempts/{line.decode().split(' ')[1]}")
            while not (self._idle or self._begin_minder()):
                self._bell.wait()  # there is no room for one more process
            with contextlib.suppress(OSError):  # it is gone; the glidein finds out
                self._idle.pop().send(line)

    def _begin_minder(self) -> bool:
        """Start one more; false where that cannot be."""
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            return False
        try:
            pid = os.fork()
        except OSError:
            pid = -1
        if pid == 0:
            ours.close()
            self._mind(theirs)
        theirs.close()
        if pid < 0:
            ours.close()
            return False
        self._minders.append(ours)
        self._idle.append(ours)
        return True

    def _mind(self, server: socket.socket) -> None:
        """Carry out lines until the server is gone; does not return."""
        status = 1
        try:
            os.close(self._orders)
            self._bell.close()
            for other in self._minders:
                other.close()
            be_minder()
            known = dict(os.environ)
            slot_group().enter(self._groups)
            while line := server.recv(_MOST):
                claim, tag, renewed, *moments = line.decode().split(" ")
                lease = GlideinLease(self._own, renewed, *map(float, moments))
                ClaimLine(self._home, self._glidein, self._shell, lease, known).run(claim, tag)
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                server.send(_READY)
            status = 0
        finally:
            os._exit(status)


def _prepare_box(folder: str) -> None:
    """Know the words of a box before the process that wants them is there: they are asked for once."""
    with contextlib.suppress(OSError, ValueError):
        order = read_order(folder, {})
        if order is not None:
            box_words(tuple(order["box"]))


def main(glidein: str, shell: int, groups: str = "") -> None:
    """Run what is written to the FIFO of a glidein, in the broker's directory at the site."""
    os.close(os.pidfd_open(os.getpid()))  # a kernel, or Python, that is too old ends it
    os.umask(0o077)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.environb.pop(ROOM.rstrip(b"="), None)  # it is the makers' alone
    gc.freeze()  # what is looked at again is copied for each minder
    Server(glidein, shell, groups).run()
