"""Carries the network of one component of an MPI job over one outgoing connection. Python 3.7 and newer.

    overlay.py run NOTE PROGRAM [WORD]...
    overlay.py check

`run` calls the hub of the job (CROSSDESK_MPI_OVERLAY: HOST PORT ADDRESS SECRET), then starts the program in a
user and a network namespace of its own, which takes no privileges. The only way out of there is the device
tun0: its packets go to the hub, which passes them on to the component that has their destination. One
connection that the program makes to 127.0.0.1, port CONTROL_PORT, is joined with the launcher of the job.
What keeps the program from its start is one line in the file NOTE. `check` prints `yes`, or why not.

The connection begins like that of an agent (`interactive/channel/rendezvous.py`); both ends prove that they
know the secret, which is never sent; frames follow: KIND, LENGTH, content.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import hmac
import os
import re
import select
import selectors
import signal
import socket
import struct
import sys
import time
from array import array
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any

VARIABLE = "CROSSDESK_MPI_OVERLAY"
PACKET, CONTROL, ALIVE = 0, 1, 2
"""Kinds of frames: packet of IPv4; bytes between program and launcher, none at their end; sign of life."""
HEAD = struct.Struct(">BH")
MTU = 60_000  # each packet takes as long, so few large ones are quicker
CHUNK = 16_384  # bytes of the launcher's connection in one frame
CONTROL_PORT = 7100
SILENCE, SIGN = 900.0, 30.0
"""Seconds without a frame after which the other end counts as gone, which may be a laptop that sleeps; and
between two signs of life."""
NONCE, PROOF, DIAL, GREET = 32, 32, 30.0, 60.0
_LINGER, _QUIET = 60.0, 2.0  # seconds for what an ended program had sent; and of these without an answer
_CLOSING = {"04", "05", "09", "0B"}  # in /proc/net/tcp: the program has closed, the other end not
_MOST_WAITING = 4 << 20  # bytes for the hub; more packets wait in the kernel, which drops what is too much
_AT_ONCE = 64  # packets that are taken from the device before others have their turn
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_DEVICE, _MAKE_DEVICE = "tun0", 0x400454CA
_SET_FLAGS, _SET_ADDRESS, _SET_MASK, _SET_MTU = 0x8914, 0x8916, 0x891C, 0x8922
_UP, _MASK = 0x41, "255.255.0.0"
_CALL = re.compile(r"(\S{1,255}) ([0-9]{1,5}) ([0-9.]{7,15}) ([A-Za-z0-9_-]{32,64})")
_AWAY = "The hub of the job sends this node away."
_NONE = "Users can make no network of their own on this node ({}). It needs user namespaces and /dev/net/tun."


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


def enter(address: str) -> list[int]:
    """Give this process, which has one thread, a network of its own; returns its device, who listens for the
    launcher's connection, and the tables of connections, which keep the network. Raises Trouble."""
    user, group, libc = os.geteuid(), os.getegid(), ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_USER | _NEW_NET) != 0:
        error = os.strerror(ctypes.get_errno())
        raise Trouble(_NONE.format(f"user namespaces: {error}"))
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
        raise Trouble(_NONE.format(what)) from error
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
        raise Trouble(reason.decode("utf-8", "replace") or "The program could not be started.")
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
            theirs.send(str(error).encode())
    finally:
        os._exit(127)


class Carrier:
    """Packets and the launcher's connection over the connection to the hub, until the program has ended."""

    def __init__(self, hub: socket.socket, files: list[int]) -> None:
        """`files`: those of `enter`."""
        self._hub, self._device, self._door = hub, files[0], socket.socket(fileno=files[1])
        self._tables = files[2:]
        self._control: socket.socket | None = None
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
        self._watched.register(self._door, selectors.EVENT_READ, self._called)
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                with suppress(OSError, Trouble):  # without a hub it ends as it has ended
                    self._finish()
                return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            self._keep_alive()
            self._turn(SIGN)

    def end(self, pid: int) -> None:
        """The hub is gone: a proxy that loses its launcher ends its processes; what does not is killed."""
        if self._control is not None:
            self._control.close()
            for _ in range(50):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
                select.select([], [], [], 0.1)
        os.kill(pid, signal.SIGKILL)

    def _finish(self) -> None:
        """What the program sent last still gets to the others, and to the launcher."""
        until = time.monotonic() + _LINGER
        self._last_frame = max(self._last_frame, until - _LINGER)
        while self._closing() and time.monotonic() < min(until, self._last_frame + _QUIET):
            self._turn(0.02)
        self._from_device(0)  # the last answer to the other end, which waits for it
        self._hub.settimeout(GREET)
        while self._control is not None:
            self._control.settimeout(2)
            self._from_program(0)
        self._hub.sendall(self._out)

    def _closing(self) -> bool:
        for table in self._tables:
            os.lseek(table, 0, os.SEEK_SET)
            with open(table, encoding="ascii", closefd=False) as lines:
                if any(line.split()[3] in _CLOSING for line in lines):
                    return True
        return False

    def _turn(self, seconds: float) -> None:
        writes = selectors.EVENT_WRITE if self._out else 0
        room = selectors.EVENT_READ if len(self._out) < _MOST_WAITING else 0
        self._watch(self._hub, selectors.EVENT_READ | writes, self._at_hub)
        self._watch(self._device, room, self._from_device)
        if self._control is not None:
            self._watch(self._control, room, self._from_program)
        for key, mask in self._watched.select(seconds):
            key.data(mask)

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
        self._control, _who = self._door.accept()
        self._control.setblocking(False)
        self._watched.unregister(self._door)
        self._door.close()

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
            if kind == PACKET:
                with suppress(OSError):  # as on any network, what is no packet is lost
                    os.write(self._device, content)
            elif kind == CONTROL and self._control is not None:
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


def run(note: str, words: list[str]) -> int:
    """Run a program in the network of its job; returns its exit status."""
    carrier = None
    try:
        found = _CALL.fullmatch(os.environ.pop(VARIABLE, ""))
        if found is None:
            raise Trouble("The place of the job's hub was not told.")
        hub = call(found[1], int(found[2]), found[4])
        pid, files = begin(found[3], words)
        carrier = Carrier(hub, files)
        return carrier.run(pid)
    except (Trouble, OSError) as trouble:
        sys.stderr.write(f"CrossDesk: {trouble}\n")
        if carrier is not None:
            carrier.end(pid)
            return 1
        with open(note, "w", encoding="ascii", errors="replace") as file:
            file.write(f"{trouble}\n")
        return 1


def check() -> str:
    """`yes`, or why programs get no network of their own here."""
    try:
        os.waitpid(begin("10.99.0.1", [])[0], 0)
    except Trouble as trouble:
        return str(trouble)
    return "yes"


if __name__ == "__main__":
    if sys.argv[1] == "run":
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    print(check())
