"""How agent and desk find each other: one line on an outgoing connection, before SSH begins on it.

`CROSSDESK-MEET 1 ROLE TOKEN` is said by either side; the other end, a relay or a desk that listens, answers
`WAIT` as often as it likes and at last `GO`, from where on every byte belongs to SSH, or `NO reason`.
The token tells who belongs together. It lets nobody in: that is up to the keys of SSH (CB-IA-08).
Nothing but the standard library is imported, because agents on worker nodes use it.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass

AGENT, DESK = "agent", "desk"
ROLES = (AGENT, DESK)
GO, WAIT = b"GO\n", b"WAIT\n"
PORTS = range(20000, 25001)
"""Where desks and relays listen unless told otherwise (CB-IA-05)."""
NO_PORTS = "none"
"""Says that there is no such range."""
SILENCE = 90.0
"""Seconds without a word from a relay, which speaks more often, after which the way there counts as dead."""
DIAL_AGAIN = 3.0
"""Seconds after which a new connection is asked for: a cut network may be back, which it notices sooner."""
LINE = 256
"""Bytes that a line may have."""
_PORTS = re.compile(r"(\d{1,5})-(\d{1,5})")
_HELLO = re.compile(rb"CROSSDESK-MEET 1 (agent|desk) ([A-Za-z0-9_-]{32,64})\n")


class NoRendezvous(Exception):
    """The other side was not met: refused, gone, or out of time."""


class NotReached(NoRendezvous):
    """Not even the place where it was to be met."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to meet."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_ports(text: str) -> range:
    """The ports of `FIRST-LAST`, or none; raises ValueError."""
    if text == NO_PORTS:
        return range(0)
    found = _PORTS.fullmatch(text)
    first, last = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 0 < first <= last < 65536:
        raise ValueError("Ports are given as FIRST-LAST, or none.")
    return range(first, last + 1)


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(32)


def hello(role: str, token: str) -> bytes:
    """The line with which a connection begins."""
    return f"CROSSDESK-MEET 1 {role} {token}\n".encode("ascii")


def read_hello(line: bytes) -> tuple[str, str] | None:
    """Role and token of such a line, if it is one."""
    found = _HELLO.fullmatch(line)
    return (found.group(1).decode(), found.group(2).decode()) if found else None


def refusal(reason: str) -> bytes:
    """The line that sends somebody away."""
    return f"NO {reason}"[: LINE - 1].encode("ascii", "replace") + b"\n"


async def meet(
    place: Endpoint,
    role: str,
    token: str,
    patience: float | None,
    dial: float = 10.0,
    reached: Callable[[], None] = lambda: None,
) -> socket.socket:
    """Return a connection to the other side on which SSH may begin.

    `dial`: seconds for connecting; `patience`: seconds of waiting for the other side, None: for ever.
    `reached`: called when the place answers. Raises NotReached, or NoRendezvous with another reason.
    """
    try:
        async with asyncio.timeout(dial):
            connection = await _connect(place)
    except (OSError, TimeoutError) as error:
        raise NotReached(f"{place} does not answer: {_words(error)}.") from error
    reached()
    try:
        await asyncio.get_running_loop().sock_sendall(connection, hello(role, token))
        async with asyncio.timeout(patience):
            await _until_go(connection, place)
    except (OSError, TimeoutError) as error:
        connection.close()
        raise NoRendezvous(f"{place} was reached, but nobody is there: {_words(error)}.") from error
    except BaseException:
        connection.close()
        raise
    return connection


async def read_line(connection: socket.socket) -> bytes:
    """One line with its end, not one byte more; empty at the end of the connection.

    Raises NoRendezvous for a line that is too long.
    """
    loop, line = asyncio.get_running_loop(), b""
    while not line.endswith(b"\n"):
        byte = await loop.sock_recv(connection, 1)
        if not byte:
            return b""
        line += byte
        if len(line) > LINE:
            raise NoRendezvous("What answers does not speak this protocol.")
    return line


async def _connect(place: Endpoint) -> socket.socket:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    last: OSError = OSError("no address")
    while True:
        for family, kind, protocol, _, address in found:
            connection = socket.socket(family, kind, protocol)
            connection.setblocking(False)
            try:
                async with asyncio.timeout(DIAL_AGAIN):
                    await loop.sock_connect(connection, address)
            except OSError as error:
                connection.close()
                last = error
                continue
            except BaseException:
                connection.close()
                raise
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return connection
        if not isinstance(last, TimeoutError):
            raise last


async def _until_go(connection: socket.socket, place: Endpoint) -> None:
    while True:
        async with asyncio.timeout(SILENCE):
            line = await read_line(connection)
        if line == GO:
            return
        if line == WAIT:
            continue
        said = line[3:].decode("ascii", "replace").strip() if line.startswith(b"NO ") else "it closed"
        raise NoRendezvous(f"{place} sends us away: {said}.")


def _words(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "out of time"
    number = getattr(error, "errno", None)  # asyncio's own words are for programmers
    return os.strerror(number) if number else str(error) or type(error).__name__
