"""The network of a component as packets of a device in a namespace of its own. Python 3.7 and newer.

Stands beside `overlay.py` on nodes.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import selectors
import signal
import socket
import struct
import time
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from broker_core.worker.scripts.overlay_link import CONTROL_PORT, PACKET, Carrier, Trouble, frame
else:
    from overlay_link import CONTROL_PORT, PACKET, Carrier, Trouble, frame

MTU = 60_000  # each packet takes as long, so few large ones are quicker
_LINGER, _QUIET = 60.0, 2.0  # seconds for what an ended program had sent; and of these without an answer
_CLOSING = {"04", "05", "09", "0B"}  # in /proc/net/tcp: the program has closed, the other end not
_AT_ONCE = 64  # packets that are taken from the device before others have their turn
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_DEVICE, _MAKE_DEVICE = "tun0", 0x400454CA
_SET_FLAGS, _SET_ADDRESS, _SET_MASK, _SET_MTU = 0x8914, 0x8916, 0x891C, 0x8922
_UP, _MASK = 0x41, "255.255.0.0"


class NoNamespace(Trouble):
    """Users can make no network of their own on this node."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"Users can make no network of their own on this node ({why}). "
            "It needs user namespaces and /dev/net/tun."
        )
        self.why = why


def enter(address: str) -> list[int]:
    """Give this process, which has one thread, a network of its own; returns its device, who listens for the
    launcher's connection, and the tables of connections, which keep the network. Raises NoNamespace."""
    user, group, libc = os.geteuid(), os.getegid(), ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_USER | _NEW_NET) != 0:
        error = os.strerror(ctypes.get_errno())
        raise NoNamespace(f"user namespaces: {error}")
    try:
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, _MAKE_DEVICE, struct.pack("16sH22x", _DEVICE.encode(), 0x1001))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            _configure(asking, address)
        door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        door.bind(("127.0.0.1", CONTROL_PORT))
        door.listen(1)
        tables = [name for name in ("/proc/self/net/tcp", "/proc/self/net/tcp6") if os.path.exists(name)]
        files = [device, door.detach(), *(os.open(name, os.O_RDONLY | os.O_CLOEXEC) for name in tables)]
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
        raise NoNamespace(what) from error
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # if its carrier dies
    return files


def _configure(asking: socket.socket, address: str) -> None:
    name = _DEVICE.encode()
    fcntl.ioctl(asking, _SET_MTU, struct.pack("16si20x", name, MTU))
    for request, value in ((_SET_ADDRESS, address), (_SET_MASK, _MASK)):
        given = struct.pack("16sHH4s16x", name, socket.AF_INET, 0, socket.inet_aton(value))
        fcntl.ioctl(asking, request, given)
    for device in (name, b"lo"):
        fcntl.ioctl(asking, _SET_FLAGS, struct.pack("16sH22x", device, _UP))


def begin(address: str, words: list[str]) -> tuple[int, list[int]]:
    """Start a program in a network of its own; returns its pid, and the files of `enter`. Raises Trouble."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _become(theirs, address, words)
    theirs.close()
    reason, passed, _, _ = ours.recvmsg(4096, socket.CMSG_SPACE(4 * array("i").itemsize))
    ours.close()
    files = [one for _, _, raw in passed for one in array("i", raw)]
    if not files:
        os.waitpid(pid, 0)
        kind, why = reason[:1], reason[1:].decode("utf-8", "replace")
        raise NoNamespace(why) if kind == b"n" else Trouble(why or "The program could not be started.")
    return pid, files


def _become(theirs: socket.socket, address: str, words: list[str]) -> None:
    """The rest of the forked process: the program, or its end."""
    try:
        files = enter(address)
        theirs.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", files))])
        if words:
            os.execvp(words[0], words)  # noqa: S606
    except BaseException as error:  # noqa: BLE001 - it must not go on as a second carrier
        with suppress(OSError):
            theirs.send(b"n" + error.why.encode() if isinstance(error, NoNamespace) else f"-{error}".encode())
    finally:
        os._exit(127)


class PacketCarrier(Carrier):
    """Packets of the device, and the launcher's connection that is made in there."""

    def __init__(self, hub: socket.socket, files: list[int]) -> None:
        """`files`: those of `enter`."""
        super().__init__(hub)
        self._device, self._door = files[0], socket.socket(fileno=files[1])
        self._tables = files[2:]

    def _begin(self) -> None:
        self._watched.register(self._door, selectors.EVENT_READ, self._called)

    def _finish(self) -> None:
        """What the program sent last still gets to the others, and to the launcher."""
        until = time.monotonic() + _LINGER
        self._last_frame = max(self._last_frame, until - _LINGER)
        while self._closing() and time.monotonic() < min(until, self._last_frame + _QUIET):
            self._turn(0.02)
        self._from_device(0)  # the last answer to the other end, which waits for it
        self._send_rest()

    def _closing(self) -> bool:
        for table in self._tables:
            os.lseek(table, 0, os.SEEK_SET)
            with open(table, encoding="ascii", closefd=False) as lines:
                if any(line.split()[3] in _CLOSING for line in lines):
                    return True
        return False

    def _turn(self, seconds: float) -> None:
        self._watch(self._device, self._room, self._from_device)
        super()._turn(seconds)

    def _got(self, kind: int, content: bytes) -> None:
        if kind == PACKET:
            with suppress(OSError):  # as on any network, what is no packet is lost
                os.write(self._device, content)

    def _from_device(self, _: int) -> None:
        """Packets of the program; others than of IPv4 are the kernel's own."""
        found: list[bytes] = []
        with suppress(BlockingIOError):
            while len(found) < _AT_ONCE:
                packet = os.read(self._device, 65_536)
                if packet[0] >> 4 == 4:
                    found.append(frame(PACKET, packet))
        if found:
            self._send(b"".join(found))

    def _called(self, _: int) -> None:
        self._join_launcher(self._door.accept()[0])
        self._watched.unregister(self._door)
        self._door.close()
