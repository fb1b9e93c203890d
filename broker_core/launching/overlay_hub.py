"""The hub of one job over sites that cannot reach each other: passes on what their programs say (CB-AL-10).

Each component calls it once, over one outgoing connection, and proves that it knows the secret of that
component. What it is then taken for follows from the secret alone: a packet from another address than its own
is dropped, as is one that is not whole, and one for nobody. Components whose nodes have no packets speak of
connections (`overlay_flows.py`). Nothing of this machine has an address in that network.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import secrets
import socket
import struct
from collections.abc import Sequence
from typing import cast

from broker_core.launching.overlay_flows import FlowTable, Hostile
from broker_core.worker.scripts.overlay_link import (
    ALIVE,
    CHUNK,
    CONTROL,
    HEAD,
    NONCE,
    PACKET,
    PROOF,
    SIGN,
    SILENCE,
    STREAM,
    frame,
    proof,
    token_of,
)

GREETING = 20.0
"""Seconds that a caller has to prove who it is."""
MOST_CALLERS = 64
"""Who have not proved yet; more are sent away."""
MOST_WAITING = 8 << 20
"""Bytes that wait for one component; further packets are dropped, as at any router that is too busy."""
MOST_QUEUED = 384 << 20
"""The same of connections, of which nothing is dropped. Carriers never give so much credit: who has more
waiting is sent away."""
MOST_CONTROL = 1024
"""Frames for the launcher that may wait."""
_HELLO = re.compile(rb"CROSSDESK-MEET 1 agent ([A-Za-z0-9_-]{32,64})\n")
_LINE = 256
_LENGTH, _SOURCE, _DESTINATION = struct.Struct(">H"), slice(15, 19), slice(19, 23)
"""In the frame of a packet of IPv4, whose head has 20 bytes at least."""
_VERSION, _SMALLEST = 4, 20


def new_secret() -> str:
    """Of one component in one attempt."""
    return secrets.token_urlsafe(32)


def overlay_address(index: int) -> str:
    """Of a component in the network of its job, by its index."""
    number = index + 1
    return f"10.99.{number >> 8}.{number & 255}"


class OverlayHub:
    """The components of one attempt, and the packets between them."""

    def __init__(self, secret_of: Sequence[str], control_ports: Sequence[int]) -> None:
        """Both by the index of the component; the ports are those of the launcher on this machine."""
        self.members = [Member(self, *of) for of in enumerate(zip(secret_of, control_ports, strict=True))]
        self.by_token = {token_of(one.secret): one for one in self.members}
        self.by_address = {one.address: one for one in self.members}
        self.flows = FlowTable()
        self.callers: set[Caller] = set()
        """Who have not proved who they are."""
        self._server: asyncio.Server | None = None

    async def open(self, address: str) -> int:
        """Listen there; returns the port. Raises OSError."""
        self._server = await asyncio.get_running_loop().create_server(lambda: Caller(self), address, 0)
        return int(self._server.sockets[0].getsockname()[1])

    def traffic(self) -> list[tuple[int, int]]:
        """Bytes that each component has sent to others, and was sent by them: of packets with their heads, of
        connections what programs said."""
        return [(one.sent, one.received) for one in self.members]

    async def close(self) -> None:
        """End all connections."""
        if self._server is not None:
            self._server.close()
        for caller in [*self.callers, *(one.caller for one in self.members if one.caller is not None)]:
            caller.transport.abort()
        for one in self.members:
            await one.end_control()


class Member:
    """One component, which the hub takes for what its secret says."""

    def __init__(self, hub: OverlayHub, index: int, of: tuple[str, int]) -> None:
        self._hub = hub
        self.secret, self._port = of
        self.address = socket.inet_aton(overlay_address(index))
        self.caller: Caller | None = None
        self.called = False
        """It has proved itself once: nobody else is it after that."""
        self.sent = self.received = self.dropped = 0
        self._control: asyncio.Queue[bytes] = asyncio.Queue(MOST_CONTROL)
        self._way: asyncio.Task[None] | None = None

    def packet(self, framed: bytes) -> None:
        """Pass one on in its frame, or drop it."""
        size = len(framed) - HEAD.size
        whole = size >= _SMALLEST and framed[HEAD.size] >> 4 == _VERSION
        whole = whole and _LENGTH.unpack_from(framed, HEAD.size + 2)[0] == size
        to = self._hub.by_address.get(framed[_DESTINATION])
        own = framed[_SOURCE] == self.address
        if not whole or not own or to is None or to is self or not to.take(framed):
            self.dropped += 1
            return
        self.sent += size

    def stream(self, framed: bytes) -> None:
        """Pass on what concerns a connection; a component that says what none may is sent away."""
        try:
            self._hub.flows.pass_on(self, framed, self._hub.by_address)
        except Hostile:
            if self.caller is not None:
                self.caller.transport.abort()

    @property
    def is_there(self) -> bool:
        """It has called, and has not ended."""
        return self.caller is not None

    def say(self, framed: bytes) -> None:
        """Send it what concerns a connection; nothing of that is ever left out."""
        if self.caller is None:
            return
        if self.caller.waiting() > MOST_QUEUED:
            self.caller.transport.abort()
            return
        self.caller.send(framed)

    def gone(self) -> None:
        """It has ended its connection."""
        self.caller = None
        self._hub.flows.end(self)
        self.control(b"")

    def take(self, framed: bytes) -> bool:
        """Send a packet to the component; false where it is not there, or too slow."""
        if self.caller is None or self.caller.waiting() > MOST_WAITING:
            return False
        self.received += len(framed) - HEAD.size
        self.caller.send(framed)
        return True

    def control(self, data: bytes) -> None:
        """Bytes of its proxy for the launcher; none: there are no more."""
        if self._way is None and data:
            self._way = asyncio.ensure_future(self._carry())
        if not self._control.full():
            self._control.put_nowait(data)
        elif self.caller is not None:
            self.caller.transport.abort()  # no proxy says so much

    async def end_control(self) -> None:
        """It has nothing more to say to the launcher, nor the launcher to it."""
        if self._way is not None:
            self._way.cancel()
            await asyncio.gather(self._way, return_exceptions=True)

    async def _carry(self) -> None:
        """Between the component and the port that the launcher keeps for it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        down = asyncio.ensure_future(self._down(reader))
        try:
            while data := await self._control.get():
                writer.write(data)
                await writer.drain()
        except OSError:
            return
        finally:
            down.cancel()
            await asyncio.gather(down, return_exceptions=True)
            writer.close()

    async def _down(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(CHUNK):
            self._say(data)
        self._say(b"")

    def _say(self, data: bytes) -> None:
        if self.caller is not None:
            self.caller.send(frame(CONTROL, data))


class Caller(asyncio.Protocol):
    """One connection: who it is, then frames."""

    def __init__(self, hub: OverlayHub, claims: Member | None = None) -> None:
        """`claims`: who it is by the word of a relay that has joined the two; it has to prove that too."""
        self._hub = hub
        self._in = bytearray()
        self._nonce = os.urandom(NONCE)
        self._claims = claims
        self.over = asyncio.Event()
        """The connection has ended."""
        self._member: Member | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last_frame = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for its words."""
        self.transport = cast(asyncio.Transport, transport)
        self._hub.callers.add(self)
        if len(self._hub.callers) > MOST_CALLERS:
            self.transport.abort()
            return
        self._timer = asyncio.get_running_loop().call_later(GREETING, self.transport.abort)
        if self._claims is not None:
            self.send(self._nonce)

    def data_received(self, data: bytes) -> None:
        """Words of the greeting, or frames."""
        self._in += data
        if self._member is None:
            self._greet()
        if self._member is not None:
            self._last_frame = asyncio.get_running_loop().time()
            self._frames(self._member)

    def connection_lost(self, error: Exception | None) -> None:
        """The component is over, or never was one."""
        self.over.set()
        if self._timer is not None:
            self._timer.cancel()
        self._hub.callers.discard(self)
        if self._member is not None:
            self._member.gone()

    def waiting(self) -> int:
        """Bytes that have not been sent."""
        return self.transport.get_write_buffer_size()

    def send(self, data: bytes) -> None:
        """Send a frame."""
        if not self.transport.is_closing():
            self.transport.write(data)

    def _greet(self) -> None:
        """`CROSSDESK-MEET`, then a number used once and a proof; only what is long enough is looked at."""
        if self._claims is None:
            if b"\n" not in self._in[:_LINE]:
                self._dismiss(len(self._in) > _LINE)
                return
            line, _, rest = bytes(self._in).partition(b"\n")
            greeting = _HELLO.fullmatch(line + b"\n")
            self._claims = self._hub.by_token.get(greeting[1].decode()) if greeting else None
            self._dismiss(self._claims is None or bool(rest))
            self._in.clear()
            self.send(b"GO\n" + self._nonce)
        if self._claims is not None and len(self._in) >= NONCE + PROOF:
            self._prove(self._claims)

    def _prove(self, member: Member) -> None:
        theirs, shown = bytes(self._in[:NONCE]), bytes(self._in[NONCE : NONCE + PROOF])
        known = hmac.compare_digest(shown, proof(member.secret, "component", theirs, self._nonce))
        if not known or member.called:
            self._dismiss(True)
            return
        del self._in[: NONCE + PROOF]
        member.called, member.caller, self._member = True, self, member
        self._hub.callers.discard(self)
        self.send(proof(member.secret, "hub", self._nonce, theirs))
        if self._timer is not None:
            self._timer.cancel()
        self._last_frame = asyncio.get_running_loop().time()
        self._live()

    def _dismiss(self, wrong: bool) -> None:
        if wrong:
            self.transport.abort()

    def _live(self) -> None:
        """Say now and then that this end is there, and look whether the other is."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._last_frame > SILENCE:
            self.transport.abort()
            return
        self.send(frame(ALIVE))
        self._timer = loop.call_later(SIGN, self._live)

    def _frames(self, member: Member) -> None:
        at, there = 0, len(self._in)
        while there - at >= HEAD.size:
            kind, size = HEAD.unpack_from(self._in, at)
            if there - at < HEAD.size + size:
                break
            framed = bytes(self._in[at : at + HEAD.size + size])
            at += HEAD.size + size
            if kind == PACKET:
                member.packet(framed)
            elif kind == STREAM:
                member.stream(framed)
            elif kind == CONTROL:
                member.control(framed[HEAD.size :])
            elif kind != ALIVE:
                self.transport.abort()
            if self.transport.is_closing():
                break
        del self._in[:at]
