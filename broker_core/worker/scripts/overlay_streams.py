"""The network of a component as connections, where a library stands in for packets. Python 3.7 and newer.

Stands beside `overlay.py` on nodes. A connection between programs of two components is two of the loopback
device, one at each end, and frames of the kind STREAM between the carriers. Each end says how many bytes it
has room for, and again as its program takes them, so that one which takes none stops nobody but who sends to
it.
"""

from __future__ import annotations

import errno
import os
import resource
import selectors
import socket
import struct
import time
from contextlib import suppress
from enum import Flag, auto
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from broker_core.worker.scripts import overlay_link as link
    from broker_core.worker.scripts.overlay_door import CarrierDoor, reply

    Key = tuple[bytes, bool, int]  # the other component, whether this end has opened it, its number
else:
    import overlay_link as link
    from overlay_door import CarrierDoor, reply

PIECE = 60_000  # bytes of one frame
ROOM, LEAST_ROOM, ALL_ROOM = 1 << 20, 1 << 14, 64 << 20
"""Bytes that wait here for one program at most; where there are many connections fewer, so that all are not
more than the last number."""
MOST_STREAMS = ALL_ROOM // LEAST_ROOM
_BESIDE = 600  # descriptors for other things than streams
_MOST_WAITING = 1 << 20  # bytes for the hub, behind which the next message of another connection has to wait
_CONNECT = 60.0  # seconds for a program whose queue of callers is full
_LINGER, _QUIET = 60.0, 2.0  # seconds for what an ended program had sent; and of these without more of it
_ERRORS = {
    link.REFUSED: errno.ECONNREFUSED,
    link.TIMED_OUT: errno.ETIMEDOUT,
    link.UNREACHABLE: errno.EHOSTUNREACH,
}
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: the other end learns that the connection is broken


class StreamState(Flag):
    """What has happened to a connection; more than one may have."""

    CALLING = 0
    OPEN = auto()
    """Both ends have it."""
    ENDED = auto()
    """The program sends no more."""
    FAR_ENDED = auto()
    """The other end sends no more."""
    SHUT = auto()
    """The program knows that."""


class CarriedStream:
    """One connection between a program here and one of another component."""

    def __init__(self, key: Key, connection: socket.socket, room: int) -> None:
        """`room`: bytes that may wait for the program."""
        self.key, self.connection, self.room = key, connection, room
        self.names = (0, 0)
        """The program's port and the carrier's."""
        self.asker: socket.socket | None = None
        """Who waits for it to be open."""
        self.until = 0.0
        """When a program that is called has to have taken it."""
        self.credit = 0
        """Bytes for which the other end has room."""
        self.waiting = bytearray()
        """Bytes for the program."""
        self.taken = 0
        """Bytes that it has taken, and of which the other end does not know."""
        self.state = StreamState.CALLING


class StreamCarrier(link.Carrier):
    """Connections of the program's processes, and the launcher's among them."""

    def __init__(self, hub: socket.socket, door: CarrierDoor) -> None:
        super().__init__(hub)
        self._door = door
        self._streams: dict[Key, CarriedStream] = {}
        self._stalled: dict[Key, CarriedStream] = {}
        """Those that have more for the hub than it takes now."""
        self._calling: dict[Key, CarriedStream] = {}
        """Those that programs here have not taken yet."""
        self._askers: set[socket.socket] = set()
        """Programs whose question has not arrived yet."""
        self._number = 0
        self._last_read = 0.0
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        # One that waits to be connected has a second descriptor.
        self._most = min(MOST_STREAMS, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _BESIDE) // 2)

    def end(self, pid: int) -> int:
        """See `Carrier.end`. Programs wait for no answer any more, also those which are about to end."""
        self._door.close()
        for asker in self._askers:
            asker.close()
        for stream in list(self._streams.values()):
            self._drop(stream, errno.ENETDOWN)
        return super().end(pid)

    def _begin(self) -> None:
        self._watched.register(self._door.calls, selectors.EVENT_READ, self._arriving)
        self._watched.register(self._door.questions, selectors.EVENT_READ, self._asked)

    def _finish(self) -> None:
        """What the program sent last still gets to the others, and to the launcher."""
        until = time.monotonic() + _LINGER
        self._last_read = time.monotonic()
        while time.monotonic() < until and (self._out or any(map(self._unfinished, self._streams.values()))):
            self._turn(0.02)
        self._send_rest()

    def _unfinished(self, stream: CarriedStream) -> bool:
        if StreamState.ENDED in stream.state or StreamState.OPEN not in stream.state:
            return False
        waits = not stream.credit or stream.key in self._stalled
        return waits or time.monotonic() < self._last_read + _QUIET

    def _turn(self, seconds: float) -> None:
        super()._turn(seconds)
        if self._stalled and self._room:
            stalled, self._stalled = self._stalled, {}
            for stream in stalled.values():
                self._settle(stream)
        now = time.monotonic()
        for stream in [one for one in self._calling.values() if one.until < now]:
            self._break(stream, link.TIMED_OUT)

    @property
    def _room(self) -> int:
        return selectors.EVENT_READ if len(self._out) < _MOST_WAITING else 0

    # Questions of programs

    def _arriving(self, _: int) -> None:
        self._door.accept_calls(self._open)

    def _asked(self, _: int) -> None:
        asker = self._door.accept_asker()
        if asker is not None:
            self._askers.add(asker)
            self._watched.register(asker, selectors.EVENT_READ, partial(self._hear, asker))

    def _hear(self, asker: socket.socket, _: int) -> None:
        self._watched.unregister(asker)
        self._askers.discard(asker)
        self._door.hear(asker, self._open)

    def _open(self, asker: socket.socket, call: socket.socket, port: int, other: int, address: bytes) -> None:
        """A program wants its connection to lead to another component, or to the launcher."""
        names = (port, self._door.port)
        if self._door.is_launcher(address, other):
            if self._is_joined:
                call.close()
                reply(asker, errno.ECONNREFUSED)
                return
            self._join_launcher(call)
            reply(asker, 0)
            return
        if len(self._streams) >= self._most:
            call.close()
            reply(asker, errno.ENFILE)
            return
        self._number = (self._number + 1) & 0xFFFFFFFF
        stream = self._added((address, True, self._number), call, names, (address, other))
        stream.asker = asker
        opening = link.OPENING.pack(port, other, stream.room)
        self._send(link.stream_frame(link.OPEN, *stream.key, opening))

    def _added(
        self,
        key: Key,
        connection: socket.socket,
        names: tuple[int, int],
        far: tuple[bytes, int],
    ) -> CarriedStream:
        room = max(LEAST_ROOM, min(ROOM, ALL_ROOM // (len(self._streams) + 1)))
        stream = self._streams[key] = CarriedStream(key, connection, room)
        stream.names = names
        self._door.peers[names] = far
        return stream

    # Frames of the hub

    def _got(self, kind: int, content: bytes) -> None:
        if kind != link.STREAM:
            return
        try:
            self._heed(content)
        except struct.error as error:
            raise link.Trouble("What the hub of the job says is not understood.") from error

    def _heed(self, content: bytes) -> None:
        what, other, by_other, number = link.STREAM_HEAD.unpack_from(content)
        key, rest = (other, not by_other, number), content[link.STREAM_HEAD.size :]
        stream = self._streams.get(key)
        if what == link.OPEN and by_other and stream is None:
            self._called(key, *link.OPENING.unpack(rest))
        elif stream is None:
            return  # it has just been given up here
        elif what == link.OPENED and stream.asker is not None:
            self._opened(stream, link.NUMBER.unpack(rest)[0])
        elif what == link.DATA:
            self._arrived(stream, rest)
        elif what == link.CREDIT:
            stream.credit += link.NUMBER.unpack(rest)[0]
            self._settle(stream)
        elif what == link.END:
            stream.state |= StreamState.FAR_ENDED
            self._push(stream)
        elif what == link.RESET:
            self._over(stream, link.REASON.unpack(rest)[0])

    def _called(self, key: Key, caller: int, port: int, credit: int) -> None:
        """A program elsewhere calls one here."""
        try:
            if len(self._streams) >= self._most:
                raise OSError(errno.ENFILE, os.strerror(errno.ENFILE))
            connection = self._door.call_program(port)
        except OSError:
            self._send(link.stream_frame(link.RESET, *key, link.REASON.pack(link.REFUSED)))
            return
        # It is known before the program can ask who has called.
        names = (port, connection.getsockname()[1])
        stream = self._added(key, connection, names, (key[0], caller))
        stream.credit, stream.until = credit, time.monotonic() + _CONNECT
        self._calling[key] = stream
        error = connection.connect_ex((self._door.loopback, port))
        if error == errno.EINPROGRESS:
            self._watched.register(connection, selectors.EVENT_WRITE, partial(self._answered, stream))
        else:
            self._taken(stream, error)

    def _answered(self, stream: CarriedStream, _: int) -> None:
        if self._streams.get(stream.key) is stream:
            self._watched.unregister(stream.connection)
            self._taken(stream, stream.connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))

    def _taken(self, stream: CarriedStream, error: int) -> None:
        """The program's system has taken the call, or nobody listens any more."""
        del self._calling[stream.key]
        if error:
            if error == errno.ECONNREFUSED:
                self._door.listening.discard(stream.names[0])
            self._break(stream, link.REFUSED)
            return
        stream.state |= StreamState.OPEN
        self._send(link.stream_frame(link.OPENED, *stream.key, link.NUMBER.pack(stream.room)))
        self._settle(stream)

    def _opened(self, stream: CarriedStream, credit: int) -> None:
        assert stream.asker is not None
        stream.credit = credit
        stream.state |= StreamState.OPEN
        reply(stream.asker, 0)
        stream.asker = None
        self._settle(stream)

    def _arrived(self, stream: CarriedStream, data: bytes) -> None:
        too_many = len(stream.waiting) + len(data) > stream.room
        if too_many or stream.state & ~StreamState.ENDED != StreamState.OPEN:
            self._break(stream, link.BROKEN)
            return
        stream.waiting += data
        self._push(stream)

    def _over(self, stream: CarriedStream, reason: int) -> None:
        """The other end is gone. What it has sent before it ended still gets to the program."""
        if StreamState.FAR_ENDED in stream.state:
            stream.state |= StreamState.ENDED
            self._settle(stream)
        else:
            self._drop(stream, _ERRORS.get(reason, errno.ECONNRESET))

    # One connection

    def _settle(self, stream: CarriedStream) -> None:
        """What is to be watched of it now, if anything."""
        if StreamState.ENDED | StreamState.FAR_ENDED in stream.state and not stream.waiting:
            self._drop(stream, 0)
            return
        if StreamState.OPEN not in stream.state:
            return
        mask = selectors.EVENT_WRITE if stream.waiting else 0
        if StreamState.ENDED not in stream.state and stream.credit:
            if self._room:
                mask |= selectors.EVENT_READ
            else:
                self._stalled[stream.key] = stream
        self._watch(stream.connection, mask, partial(self._ready, stream))

    def _ready(self, stream: CarriedStream, mask: int) -> None:
        if mask & selectors.EVENT_WRITE and self._streams.get(stream.key) is stream:
            self._push(stream)
        if mask & selectors.EVENT_READ and self._streams.get(stream.key) is stream:
            self._pull(stream)

    def _pull(self, stream: CarriedStream) -> None:
        """From the program to the hub."""
        if self._room and stream.credit:
            try:
                data = stream.connection.recv(min(PIECE, stream.credit))
            except BlockingIOError:
                return
            except OSError:
                self._break(stream, link.BROKEN)
                return
            stream.credit -= len(data)
            if not data:
                stream.state |= StreamState.ENDED
            self._last_read = time.monotonic()
            self._send(link.stream_frame(link.DATA if data else link.END, *stream.key, data))
        if StreamState.ENDED in stream.state or not self._room or not stream.credit:
            self._settle(stream)

    def _push(self, stream: CarriedStream) -> None:
        """From the hub to the program."""
        try:
            while stream.waiting:
                count = stream.connection.send(stream.waiting)
                del stream.waiting[:count]
                stream.taken += count
        except BlockingIOError:
            pass
        except OSError:
            self._break(stream, link.BROKEN)
            return
        if stream.taken >= stream.room // 4 and StreamState.FAR_ENDED not in stream.state:
            self._send(link.stream_frame(link.CREDIT, *stream.key, link.NUMBER.pack(stream.taken)))
            stream.taken = 0
        to_end = stream.state & (StreamState.FAR_ENDED | StreamState.SHUT) == StreamState.FAR_ENDED
        if to_end and not stream.waiting:
            stream.state |= StreamState.SHUT
            with suppress(OSError):  # the program has ended it, too
                stream.connection.shutdown(socket.SHUT_WR)
        self._settle(stream)

    def _break(self, stream: CarriedStream, reason: int) -> None:
        """It has ended here, out of turn."""
        self._send(link.stream_frame(link.RESET, *stream.key, link.REASON.pack(reason)))
        self._drop(stream, errno.ECONNRESET)

    def _drop(self, stream: CarriedStream, error: int) -> None:
        """Nothing is left of it; an error is passed on to the program."""
        self._watch(stream.connection, 0, partial(self._ready, stream))
        if stream.asker is not None:
            reply(stream.asker, error)
        elif error:
            with suppress(OSError):
                stream.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        stream.connection.close()
        self._door.end_peer(stream.names)
        for one in (self._stalled, self._calling, self._streams):
            one.pop(stream.key, None)
