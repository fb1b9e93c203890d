"""SOCKS: programs here name the place on the node's network that they want, one by one (`ssh -D`)."""

from __future__ import annotations

import asyncio
import ipaddress
import struct

NO_AUTHENTICATION, NONE_OF_THESE = 0, 0xFF
CONNECT = 1
GRANTED, FAILED, NOT_SUPPORTED = 0, 1, 7
OLD_GRANTED, OLD_REFUSED = 90, 91
LONGEST = 255
"""Bytes of a name."""


class BadSocks(Exception):
    """Who connected does not speak SOCKS, or wants what we do not have."""


class SocksTalk:
    """What is said on one connection before its bytes are carried; SOCKS 4, 4a and 5 without passwords."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._version = 0

    async def wanted(self) -> tuple[str, int]:
        """Host and port that the program asks for; raises BadSocks and EOFError."""
        self._version = (await self._reader.readexactly(1))[0]
        if self._version == 5:
            return await self._new()
        if self._version == 4:
            return await self._old()
        raise BadSocks("this is not SOCKS")

    def answer(self, *, granted: bool) -> None:
        """Say whether the connection is there."""
        if self._version == 4:
            self._writer.write(struct.pack("!BBH4x", 0, OLD_GRANTED if granted else OLD_REFUSED, 0))
        else:
            self._answer_new(GRANTED if granted else FAILED)

    def _answer_new(self, code: int) -> None:
        self._writer.write(struct.pack("!BBBB4sH", 5, code, 0, 1, bytes(4), 0))

    async def _new(self) -> tuple[str, int]:
        methods = await self._reader.readexactly((await self._reader.readexactly(1))[0])
        if NO_AUTHENTICATION not in methods:
            self._writer.write(bytes((5, NONE_OF_THESE)))
            raise BadSocks("it wants a password")
        self._writer.write(bytes((5, NO_AUTHENTICATION)))
        _, command, _, kind = await self._reader.readexactly(4)
        if command != CONNECT or kind not in (1, 3, 4):
            self._answer_new(NOT_SUPPORTED)
            raise BadSocks("it wants more than connections")
        if kind == 3:
            host = (await self._reader.readexactly((await self._reader.readexactly(1))[0])).decode("ascii")
        else:
            host = str(ipaddress.ip_address(await self._reader.readexactly(4 if kind == 1 else 16)))
        return host, struct.unpack("!H", await self._reader.readexactly(2))[0]

    async def _old(self) -> tuple[str, int]:
        command, port, address = struct.unpack("!BH4s", await self._reader.readexactly(7))
        await self._word()
        if command != CONNECT:
            self.answer(granted=False)
            raise BadSocks("it wants more than connections")
        if address[:3] == bytes(3) and address[3]:
            return (await self._word()).decode("ascii"), port
        return str(ipaddress.ip_address(address)), port

    async def _word(self) -> bytes:
        found = await self._reader.readuntil(b"\0")
        if len(found) > LONGEST:
            raise BadSocks("a name is too long")
        return found[:-1]
