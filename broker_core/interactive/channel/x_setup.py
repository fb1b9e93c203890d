"""The first words of a program to an X server: its proof that it may open windows there (CB-I2G-03).

The agent checks the proof that it gave to the job and takes it out; the desk puts in that of its own display,
which thus never leaves the desk. Nothing but the standard library is imported, because agents use it.
"""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

COOKIE = b"MIT-MAGIC-COOKIE-1"
COOKIE_BYTES = 16
MOST = 4096
"""Bytes that name or proof may have."""
_MAJOR = 11
_BASE_PORT = 6000
_LOCAL, _ANY = 256, 0xFFFF
"""Kinds of addresses."""


class BadSetup(Exception):
    """What arrived is not what a program says to an X server."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The first words of a connection."""

    order: str
    """Byte order as `struct` writes it."""
    major: int
    minor: int
    name: bytes = b""
    """Kind of proof."""
    proof: bytes = b""

    def words(self) -> bytes:
        """As sent to an X server."""
        first = b"B" if self.order == ">" else b"l"
        sizes = (self.major, self.minor, len(self.name), len(self.proof))
        return struct.pack(f"{self.order}cxHHHHxx", first, *sizes) + _padded(self.name) + _padded(self.proof)

    def refusal(self, reason: str) -> bytes:
        """What an X server answers to who may not open windows; programs show the reason."""
        told = reason.encode("ascii", "replace")[:250] + b"\n"
        padded = _padded(told)
        head = struct.pack(f"{self.order}BBHHH", 0, len(told), _MAJOR, 0, len(padded) // 4)
        return head + padded


async def read_setup(read: Callable[[int], Awaitable[bytes]]) -> Setup:
    """Read it with a function that returns exactly so many bytes; raises BadSetup."""
    head = await read(12)
    order = {b"B": ">", b"l": "<"}.get(head[:1])
    if order is None:
        raise BadSetup("the byte order is unknown")
    major, minor, name, proof = struct.unpack(f"{order}2xHHHH2x", head)
    if major != _MAJOR or max(name, proof) > MOST:
        raise BadSetup("this is not X11")
    said = await read(_whole(name) + _whole(proof))
    return Setup(order, major, minor, said[:name], said[_whole(name) : _whole(name) + proof])


def entry(number: int, cookie: bytes, host: str = "") -> bytes:
    """An Xauthority file that gives the cookie to programs, whatever they call this machine.

    `host`: the name of this machine, for libraries that find no entry for all; such entries can be joined.
    """
    family = _LOCAL if host else _ANY
    parts = (host.encode(), str(number).encode(), COOKIE, cookie)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(part)) + part for part in parts)


def server_of(display: str) -> str | tuple[str, int]:
    """Where the X server of a display listens: path of a socket, or host and port; raises ValueError."""
    host, colon, rest = display.rpartition(":")
    number = rest.partition(".")[0]
    if not colon or not number.isdecimal():
        raise ValueError(f"{display!r} names no display")
    if host.startswith("/"):
        return f"{host}:{number}"
    if host in ("", "unix"):
        return f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where X servers are
    return host.strip("[]"), _BASE_PORT + int(number)


def _whole(size: int) -> int:
    return (size + 3) // 4 * 4


def _padded(data: bytes) -> bytes:
    return data.ljust(_whole(len(data)), b"\0")
