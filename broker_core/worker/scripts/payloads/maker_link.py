"""What a `BoxMaker` tells, each answer for the box that it is of."""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections import deque
from contextlib import suppress

_CREDENTIALS, _FILE = struct.Struct("iii"), struct.Struct("i")
_ROOM = socket.CMSG_SPACE(_CREDENTIALS.size) + socket.CMSG_SPACE(_FILE.size)
_MOST = 4096
_BEGIN = b"."


class MadeProgram:
    """A program that waits for a byte to begin."""

    def __init__(self, pid: int, gate: int) -> None:
        """`gate`: the pipe for that byte."""
        self.pid, self._gate = pid, gate

    def begin(self) -> None:
        """Have it begin. Raises OSError if it is gone, and did not."""
        os.write(self._gate, _BEGIN)

    def close(self) -> None:
        """Nothing more is wanted of it here."""
        os.close(self._gate)


class BegunBox:
    """What its maker has told of one whose program has begun."""

    def __init__(self) -> None:
        self.has_ended = False
        self.over: bytes | None = None
        """How it ended, once nothing is left of it; empty: its maker is gone, and all in it with that."""


class MakerLink:
    """The socket of one maker, from which nobody else reads."""

    def __init__(self, maker: socket.socket) -> None:
        """Raises OSError if it does not begin."""
        self._maker = maker
        maker.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        maker.send(b"begin")
        text, self.pid, _ = self._answer()
        if text != b"ready":
            raise OSError("it cannot be done")
        self._is_gone = False
        self._ordered = 0
        self._made: MadeProgram | None = None
        self._begun = deque[BegunBox]()
        """Those that are not over, the oldest first."""

    def order(self, text: bytes, files: bytes) -> bool:
        """Have a box made, instead of one whose program has not begun; false if the maker is gone.

        `files`: the open ones, as sendmsg(2) has them.
        """
        try:
            self._maker.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        except OSError:
            return False
        self._ordered += 1
        return True

    def begin(self, text: bytes) -> tuple[int, BegunBox]:
        """Have the program of the last order begin; its process. `text`: the order for that.

        Raises OSError if it did not.
        """
        while self._made is None and not self._is_gone:
            self.hear()
        made, self._made = self._made, None
        if made is None:
            raise OSError("it is gone")
        try:
            made.begin()
        finally:
            made.close()
        box = BegunBox()
        self._begun.append(box)
        with suppress(OSError):  # it is gone, which is heard
            self._maker.send(text)
        return made.pid, box

    def wait(self, seconds: float | None) -> bool:
        """Wait for an answer for so long; None: for good. False if there is none."""
        return bool(select.select([self._maker], [], [], seconds)[0])

    def hear(self) -> None:
        """Take the next answer."""
        text, pid, files = self._answer()
        if text == b"made":
            self._ordered -= 1
            made = MadeProgram(pid, files[0])
            if self._ordered:
                made.close()  # another was ordered since
            else:
                self._made = made
        elif text == b"ended":
            next(box for box in self._begun if not box.has_ended).has_ended = True
        elif text:
            self._begun.popleft().over = text
        else:
            self._is_gone = True
            while self._begun:
                self._begun.popleft().over = b""

    def _answer(self) -> tuple[bytes, int, list[int]]:
        """What it tells, of which process, itself where it names no other, and with which files; empty: it is
        gone."""
        try:
            text, more, _, __ = self._maker.recvmsg(_MOST, _ROOM, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:  # it ended without a look at all that it was sent; what it told is there
            text, more, _, __ = self._maker.recvmsg(_MOST, _ROOM, socket.MSG_CMSG_CLOEXEC)
        found = {kind: data for _, kind, data in more}
        files = [file for (file,) in _FILE.iter_unpack(found.get(socket.SCM_RIGHTS, b""))]
        pid = _CREDENTIALS.unpack(found[socket.SCM_CREDENTIALS])[0] if text else 0
        return text, pid, files

    def close(self) -> None:
        """Hear how all have ended, then have the maker end, if it is there, and all that it made."""
        while self._begun:
            self.hear()
        self._maker.close()
        if self._made is not None:
            self._made.close()
        self.bury()

    def bury(self) -> None:
        """Wait for the end of the maker, whose parent this process is."""
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


class Deadline:
    """Until when something is waited for."""

    def __init__(self, seconds: float | None) -> None:
        """None: for good."""
        self._at = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Seconds; None: no end."""
        return None if self._at is None else max(0.0, self._at - time.monotonic())
