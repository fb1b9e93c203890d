"""What both ways to carry the network of a component share: the connection to the hub. Python 3.7 and newer.

Stands beside `overlay.py` on nodes. The connection begins like that of an agent
(`interactive/channel/rendezvous.py`); both ends prove that they know the secret, which is never sent; frames
follow: KIND, LENGTH, content.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import select
import selectors
import signal
import socket
import struct
import time
from abc import ABC, abstractmethod
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any

VARIABLE = "CROSSDESK_MPI_OVERLAY"
PACKET, CONTROL, ALIVE, STREAM = 0, 1, 2, 3
"""Kinds of frames: packet of IPv4; bytes between program and launcher, none at their end; sign of life; what
concerns one connection between programs."""
STREAM_HEAD = struct.Struct(">B4sBI")
"""Of the content of STREAM: what it is; address of the other component; 1 if who sends the frame has opened
the connection, else 0; number of the connection among those of who has opened it."""
OPEN, OPENED, DATA, CREDIT, END, RESET = range(1, 7)
"""What it is: OPENING follows; a number of bytes that may be sent the other way; bytes; such a number more;
there are no more bytes; it is over, and why."""
OPENING, NUMBER, REASON = struct.Struct(">HHI"), struct.Struct(">I"), struct.Struct(">B")
"""Ports of the caller and of the called, and how many bytes the called may send."""
REFUSED, TIMED_OUT, UNREACHABLE, BROKEN = 1, 2, 3, 4
"""Why a connection is over: nobody listens, or answers; there is no such component; all else."""
MOST_WINDOW = 4 << 20
"""Bytes of one connection that may be under way."""
HEAD = struct.Struct(">BH")
CHUNK = 16_384  # bytes of the launcher's connection in one frame
CONTROL_PORT = 7100
SILENCE, SIGN = 900.0, 30.0
"""Seconds without a frame after which the other end counts as gone, which may be a laptop that sleeps; and
between two signs of life."""
NONCE, PROOF, DIAL, GREET = 32, 32, 30.0, 60.0
MOST_WAITING = 4 << 20  # bytes for the hub; what is more waits where it comes from
_AWAY = "The hub of the job sends this node away."


class Trouble(Exception):
    """Why the program is not started, or ended."""


def token_of(secret: str) -> str:
    """By which the hub knows who calls; tells nothing of the secret."""
    digest = hashlib.sha256(b"crossdesk overlay token " + secret.encode()).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def proof(secret: str, who: str, mine: bytes, yours: bytes) -> bytes:
    """That one end (hub or component) knows the secret; both have given a number used once."""
    return hmac.new(secret.encode(), who.encode() + b"\0" + mine + yours, hashlib.sha256).digest()


def frame(kind: int, content: bytes = b"") -> bytes:
    """As it is sent."""
    return HEAD.pack(kind, len(content)) + content


def stream_frame(what: int, other: bytes, opener: bool, number: int, rest: bytes = b"") -> bytes:
    """About one connection, as it is sent."""
    return frame(STREAM, STREAM_HEAD.pack(what, other, opener, number) + rest)


def call(host: str, port: int, secret: str) -> socket.socket:
    """A connection on which frames may be sent: its other end knows the secret. Raises Trouble."""
    try:
        hub = socket.create_connection((host, port), DIAL)
    except OSError as error:
        raise Trouble(f"The hub of the job at {host}:{port} does not answer this node: {error}.") from error
    try:
        hub.settimeout(GREET)
        hub.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        hub.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        hub.sendall(f"CROSSDESK-MEET 1 agent {token_of(secret)}\n".encode())
        _until_go(hub)
        theirs, mine = _exactly(hub, NONCE), os.urandom(NONCE)
        hub.sendall(mine + proof(secret, "component", mine, theirs))
        if not hmac.compare_digest(_exactly(hub, PROOF), proof(secret, "hub", theirs, mine)):
            raise Trouble(f"What answers at {host}:{port} is not the hub of the job.")
    except (OSError, Trouble) as error:
        hub.close()
        reason = str(error) if isinstance(error, Trouble) else f"The hub of the job broke off: {error}."
        raise Trouble(reason) from error
    return hub


def _until_go(hub: socket.socket) -> None:
    line = b""
    while line != b"GO\n":
        if (line.endswith(b"\n") and line != b"WAIT\n") or len(line) > 256:
            raise Trouble(_AWAY)
        line = (b"" if line == b"WAIT\n" else line) + _exactly(hub, 1)


def _exactly(hub: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = hub.recv(size - len(found))
        if not part:
            raise Trouble(_AWAY)
        found += part
    return found


def _exit_status(status: int) -> int:
    """As a shell tells it."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class Carrier(ABC):
    """The connection to the hub, and the launcher's within it, until the program has ended.

    What passes between the programs of components is what those below make of it.
    """

    def __init__(self, hub: socket.socket) -> None:
        self._hub = hub
        self._control: socket.socket | None = None
        self._is_joined = False
        """The program has had its connection to the launcher."""
        self._in, self._out = bytearray(), bytearray()
        self._last_frame = self._last_sent = time.monotonic()
        self._watched = selectors.DefaultSelector()

    def run(self, pid: int) -> int:
        """Carry until the program has ended; returns its exit status as a shell tells it. Raises Trouble."""
        news, wakeup = os.pipe()
        for end in (news, wakeup):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # What ends the program ends this too, by and by: its last words shall still get through.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._hub.setblocking(False)
        self._watched.register(news, selectors.EVENT_READ, lambda _: os.read(news, 4096))
        self._begin()
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                with suppress(OSError, Trouble):  # without a hub it ends as it has ended
                    self._finish()
                return _exit_status(status)
            self._keep_alive()
            self._turn(SIGN)

    def end(self, pid: int) -> int:
        """The hub is gone, as it is once all work is done. Returns the exit status of a proxy, which ends its
        processes and then itself; what does not is killed, and that counts as 1."""
        if self._control is not None:
            self._control.close()
        for _ in range(50 if self._is_joined else 0):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return _exit_status(status)
            select.select([], [], [], 0.1)
        os.kill(pid, signal.SIGKILL)
        return 1

    @abstractmethod
    def _begin(self) -> None:
        """Watch what the program speaks to."""

    @abstractmethod
    def _finish(self) -> None:
        """What the program sent last still gets to the others, and to the launcher."""

    @abstractmethod
    def _got(self, kind: int, content: bytes) -> None:
        """A frame that is not about the launcher."""

    def _turn(self, seconds: float) -> None:
        """Do what is ready, or wait so long for something."""
        writes = selectors.EVENT_WRITE if self._out else 0
        self._watch(self._hub, selectors.EVENT_READ | writes, self._at_hub)
        if self._control is not None:
            self._watch(self._control, self._room, self._from_program)
        for key, mask in self._watched.select(seconds):
            key.data(mask)

    @property
    def _room(self) -> int:
        """What to watch of who has something for the hub."""
        return selectors.EVENT_READ if len(self._out) < MOST_WAITING else 0

    def _watch(self, file: Any, mask: int, then: Callable[[int], object]) -> None:
        before = self._watched.get_map().get(file)
        if mask == (0 if before is None else before.events):
            return
        if not mask:
            self._watched.unregister(file)
        elif before is not None:
            self._watched.modify(file, mask, then)
        else:
            self._watched.register(file, mask, then)

    def _keep_alive(self) -> None:
        now = time.monotonic()
        if now - self._last_frame > SILENCE:
            raise Trouble("The hub of the job is not heard from any more.")
        if now - self._last_sent > SIGN and not self._out:
            self._send(frame(ALIVE))

    def _send(self, data: bytes) -> None:
        self._last_sent = time.monotonic()
        if not self._out:
            with suppress(BlockingIOError):
                data = data[self._hub.send(data) :]
        self._out += data

    def _send_rest(self) -> None:
        """The program has ended: all that is for the hub and the launcher."""
        self._hub.settimeout(GREET)
        while self._control is not None:
            self._control.settimeout(2)
            self._from_program(0)
        self._hub.sendall(self._out)

    def _join_launcher(self, connection: socket.socket) -> None:
        """This is the program's connection to the launcher."""
        self._control, self._is_joined = connection, True
        self._control.setblocking(False)

    def _from_program(self, _: int) -> None:
        assert self._control is not None
        try:
            data = self._control.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._send(frame(CONTROL, data))
        if not data:
            self._watch(self._control, 0, self._from_program)
            self._control.close()
            self._control = None

    def _at_hub(self, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            with suppress(BlockingIOError):
                del self._out[: self._hub.send(self._out)]
        if not mask & selectors.EVENT_READ:
            return
        try:
            data = self._hub.recv(1 << 18)
        except BlockingIOError:
            return
        if not data:
            raise Trouble("The hub of the job has ended.")
        self._last_frame = time.monotonic()
        self._in += data
        self._take()

    def _take(self) -> None:
        at, there = 0, len(self._in)
        while there - at >= HEAD.size:
            kind, size = HEAD.unpack_from(self._in, at)
            if there - at < HEAD.size + size:
                break
            content = bytes(self._in[at + HEAD.size : at + HEAD.size + size])
            at += HEAD.size + size
            if kind != CONTROL:
                self._got(kind, content)
            elif self._control is not None:
                self._to_program(content)
        del self._in[:at]

    def _to_program(self, data: bytes) -> None:
        assert self._control is not None
        try:
            self._control.setblocking(True)  # the launcher says little
            if data:
                self._control.sendall(data)
            else:
                self._control.shutdown(socket.SHUT_WR)
            self._control.setblocking(False)
        except OSError:
            return  # it has ended, which its own side tells
