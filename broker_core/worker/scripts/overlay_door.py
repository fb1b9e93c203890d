"""Where programs on this machine meet the carrier of their component. Python 3.7 and newer.

Stands beside `overlay.py` on nodes. The library in a program (`packaging/preload/overlay_preload.c`) has two
ways here: connections of IPv4, which the carrier takes further, and a socket of this machine for questions,
whose other end the kernel knows: of another user none is answered. An address 10.99.x.y is 127.n.x.y of the
loopback device here, n by chance, so that components of two jobs on one node seldom want the same.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import secrets
import shutil
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from broker_core.worker.scripts.overlay_link import CONTROL_PORT, Trouble

    Opening = Callable[[socket.socket, socket.socket, int, int, bytes], None]
    """Takes who asks, the connection, its port, and the port and address where it is to lead."""
else:
    from overlay_link import CONTROL_PORT, Trouble

VARIABLE = "CROSSDESK_OVERLAY_DOOR"
"""In the environment of programs: NAME ADDRESS LOOPBACK PORT."""
OPEN, LOCAL, FORGET, WHO, PEER, LISTEN = range(1, 7)
"""Questions: connect me; I call, or may I call, a program of this component; I did not; who has called; whom
have I called; I listen."""
QUESTION, ANSWER = struct.Struct(">BBHH2x4s"), struct.Struct(">HH4s")
"""What, the asker's port, the other port, an address; and errno or 0, a port, an address."""
GLIBC = (2, 17)
"""What the library needs."""
LOCALHOST = socket.inet_aton("127.0.0.1")
_UID = struct.Struct("3i")
_MOST_ARRIVED = 256
"""Connections that nobody has asked about yet: other users of the machine can make some."""
_MOST_LOCAL = 4096
"""Calls within the component that were announced and not accepted yet."""
_MOST_ENDED = 4096
"""Connections that have ended, of which a program may still ask where they led."""


def loopback_of(address: str) -> str:
    """Some address of the loopback device for one of the network; not those that systems use themselves."""
    _, _, *last = address.split(".")
    return ".".join(["127", str(64 + secrets.randbelow(190)), *last])


class CarrierDoor:
    """Both ways, and what is known of the connections here."""

    def __init__(self, address: str) -> None:
        """`address`: of the component in the network of its job. Raises OSError."""
        self.address, self.loopback = socket.inet_aton(address), loopback_of(address)
        self.calls = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.calls.bind((self.loopback, 0))
        self.calls.listen(1024)
        self.port: int = self.calls.getsockname()[1]
        self.questions = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        name = f"crossdesk-overlay-{secrets.token_hex(16)}"
        self.questions.bind(f"\0{name}")
        self.questions.listen(1024)
        for one in (self.calls, self.questions):
            one.setblocking(False)
        self.words = f"{name} {address} {self.loopback} {self.port}"
        """What programs are to know."""
        self.listening: set[int] = set()
        """Ports at which programs of the component listen: nothing else here can be called by others."""
        self.peers: dict[tuple[int, int], tuple[bytes, int]] = {}
        """Of each connection by way of the carrier, by the program's port and the carrier's: its far end."""
        self._ended: dict[tuple[int, int], tuple[bytes, int]] = {}
        """Of those that were: a program that has its end still can name the other."""
        self._arrived: dict[int, socket.socket] = {}
        self._expected: dict[int, tuple[socket.socket, tuple[int, bytes]]] = {}
        """Those who have asked, and whose connection has not arrived; by its port."""
        self._local: dict[tuple[int, int], None] = {}

    def accept_calls(self, opening: Opening) -> None:
        """Take what has arrived; only who asks for it gets further, by `opening`."""
        while True:
            try:
                call, (host, port) = self.calls.accept()
            except OSError:  # none is left, or has gone again
                break
            if host != self.loopback:
                call.close()
                continue
            call.setblocking(False)
            call.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asked = self._expected.pop(port, None)
            if asked is not None:
                opening(asked[0], call, port, *asked[1])
                continue
            self._arrived[port] = call
            if len(self._arrived) > _MOST_ARRIVED:
                self._arrived.pop(next(iter(self._arrived))).close()

    def accept_asker(self) -> socket.socket | None:
        """Who has a question; None where it is not of this user."""
        try:
            asker, _ = self.questions.accept()
        except OSError:
            return None
        raw = asker.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UID.size)
        if _UID.unpack(raw)[1] == os.geteuid():
            asker.setblocking(False)
            return asker
        asker.close()
        return None

    def hear(self, asker: socket.socket, opening: Opening) -> None:
        """Answer a question, and end with that; `opening` takes on whoever wants to be connected."""
        try:
            raw = asker.recv(64)
        except OSError:
            raw = b""
        if len(raw) != QUESTION.size:
            asker.close()
            return
        what, _, port, other, address = QUESTION.unpack(raw)
        if what != OPEN:
            reply(asker, *self._answer(what, port, other))
            return
        call = self._arrived.pop(port, None)
        if call is None:  # the program's system has it, and this one has not yet
            self._expected[port] = (asker, (other, address))
        else:
            opening(asker, call, port, other, address)

    def _answer(self, what: int, port: int, other: int) -> tuple[int, int, bytes]:
        """Number of the error or 0, and the address that was asked for."""
        if what == LISTEN:
            self.listening.add(port)
        elif what == LOCAL:
            if other not in self.listening:
                return errno.ECONNREFUSED, 0, LOCALHOST
            if port:
                self._local[(other, port)] = None
                if len(self._local) > _MOST_LOCAL:
                    del self._local[next(iter(self._local))]
        elif what == FORGET:
            self._local.pop((other, port), None)
        elif what in (WHO, PEER):
            far = self.peers.get((port, other))
            if far is None and what == PEER:  # but nobody is let in as one that was
                far = self._ended.get((port, other))
            if far is not None:
                return 0, far[1], far[0]
            if what == PEER or (port, other) not in self._local:
                return errno.ENOENT, 0, LOCALHOST
            del self._local[(port, other)]  # another user may get the port after it
            return 0, other, self.address
        else:
            return errno.EINVAL, 0, LOCALHOST
        return 0, 0, LOCALHOST

    def end_peer(self, names: tuple[int, int]) -> None:
        """The carrier has no more to do with the connection of these ports."""
        far = self.peers.pop(names, None)
        if far is not None:
            self._ended[names] = far
            if len(self._ended) > _MOST_ENDED:
                del self._ended[next(iter(self._ended))]

    def call_program(self, port: int) -> socket.socket:
        """A connection to a program here, which is on its way; raises OSError where nobody can be called."""
        if port not in self.listening:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        call = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        call.setblocking(False)
        call.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        call.bind((self.loopback, 0))
        return call

    def close(self) -> None:
        """Answer nobody any more, nor those who wait for their connection to arrive."""
        for one in (self.calls, self.questions, *(asker for asker, _ in self._expected.values())):
            one.close()
        for call in self._arrived.values():
            call.close()

    def is_launcher(self, address: bytes, port: int) -> bool:
        """True for the address by which programs call the launcher of the job."""
        return (address, port) == (LOCALHOST, CONTROL_PORT)


def reply(asker: socket.socket, error: int, port: int = 0, address: bytes = LOCALHOST) -> None:
    """Answer, and end."""
    with suppress(OSError):  # it has ended meanwhile
        asker.send(ANSWER.pack(error, port, address))
    asker.close()


def lacking() -> str:
    """What keeps programs here from the library, in a sentence; empty: nothing."""
    name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    numbers = tuple(int(one) for one in version.split(".")[:2] if one.isdecimal())
    if platform.machine() != "x86_64" or name != "glibc" or numbers < GLIBC:
        return "Nor is there a library in its place: that needs x86-64 and glibc 2.17."
    try:
        door = CarrierDoor("10.99.0.1")
    except OSError as error:
        return f"Nor can the library in its place be used: {error.strerror}."
    door.close()
    return ""


def begin(door: CarrierDoor, library: str, words: list[str]) -> int:
    """Start a program with the library; returns its pid. Raises Trouble."""
    try:
        ctypes.CDLL(library)  # programs would start without it, and say so where nobody reads it
    except OSError as error:
        raise Trouble(f"The library for the network of the job cannot be loaded: {error}.") from error
    found = shutil.which(words[0])
    if found is None:
        raise Trouble(f"There is no {words[0]} on this node.")
    file = os.open(library, os.O_RDONLY | os.O_CLOEXEC)
    if set(library) & set(" :"):
        library = f"/proc/{os.getpid()}/fd/{file}"  # such names mean several libraries
    loaded = os.environ.get("LD_PRELOAD")
    more = {"LD_PRELOAD": f"{library}:{loaded}" if loaded else library, VARIABLE: door.words}
    libc = ctypes.CDLL(None)
    pid = os.fork()
    if pid == 0:
        try:
            libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # if its carrier dies
            os.execve(found, words, {**os.environ, **more})  # noqa: S606
        finally:
            os._exit(127)
    return pid
