"""Mouse and keyboard of a virtual screen: a client of X11 that speaks the extension XTEST and no more."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

from broker_core.interactive.channel.x_setup import COOKIE, Setup
from broker_core.worker.sub_channels.screen.key_map import Keyboard, KeyMap

_TIME = 10.0
"""Seconds that the server has for each answer of the beginning."""
_KEY_DOWN, _KEY_UP, _BUTTON_DOWN, _BUTTON_UP, _MOTION = 2, 3, 4, 5, 6
_QUERY_EXTENSION, _GET_KEYBOARD_MAPPING, _CHANGE_KEYBOARD_MAPPING = 98, 101, 100
_FAKE_INPUT = 2
_REPLY = 1
_BUTTONS = range(1, 8)
"""Left, middle, right, and the four ways of wheels."""


class NoInput(Exception):
    """The server takes no input; says why."""


class XInput:
    """A connection to the server. `serve` carries it as soon as a loop runs."""

    def __init__(self, number: int, cookie: bytes) -> None:
        """`number`: of the display. Raises NoInput and OSError."""
        self._socket = _connected(number)
        try:
            first, last = self._introduce(cookie)
            self._xtest = self._extension(b"XTEST")
            self._keyboard = Keyboard(self._key_map(first, last - first + 1))
        except BaseException:
            self._socket.close()
            raise
        self._down: set[int] = set()
        self._writer: asyncio.StreamWriter | None = None

    async def serve(self) -> None:
        """Carry input until the server ends."""
        reader, self._writer = await asyncio.open_unix_connection(sock=self._socket)
        with contextlib.suppress(OSError):
            while await reader.read(1 << 16):
                pass  # events about the keyboard: it is ours
        self._writer.close()

    def close(self) -> None:
        """Leave; the server ends after its last client."""
        if self._writer is not None:
            self._writer.close()
        else:
            self._socket.close()

    def move(self, x: int, y: int) -> None:
        """Move the pointer to a pixel."""
        self._fake(_MOTION, 0, x, y)

    def button(self, number: int, *, down: bool) -> None:
        """Press or release a button; 4 to 7 are steps of wheels. Others do not exist."""
        if number in _BUTTONS:
            (self._down.add if down else self._down.discard)(number)
            self._fake(_BUTTON_DOWN if down else _BUTTON_UP, number)

    def key(self, symbol: int, *, down: bool) -> None:
        """Press or release a key; raises UnknownKey."""
        if not down:
            self._type(self._keyboard.release(symbol))
            return
        codes = self._keyboard.press(symbol)
        if self._keyboard.assigned is not None:
            self._send(_key_change(*self._keyboard.assigned))
        self._type(codes)

    def release_all(self) -> None:
        """Whatever is down goes up: who pressed it is gone."""
        self._type(self._keyboard.release_all())
        for number in sorted(self._down):
            self.button(number, down=False)

    def _type(self, codes: list[tuple[int, bool]]) -> None:
        for code, down in codes:
            self._fake(_KEY_DOWN if down else _KEY_UP, code)

    def _fake(self, kind: int, detail: int, x: int = 0, y: int = 0) -> None:
        self._send(
            struct.pack("<BBHBBxxII8xhh7xB", self._xtest, _FAKE_INPUT, 9, kind, detail, 0, 0, x, y, 0)
        )

    def _send(self, request: bytes) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(request)

    # The beginning, while nothing else can be done.

    def _introduce(self, cookie: bytes) -> tuple[int, int]:
        """Say who we are; returns the codes of the first and the last key."""
        self._socket.sendall(Setup("<", 11, 0, COOKIE, cookie).words())
        welcome, _, _, _, length = struct.unpack("<BBHHH", self._read(8))
        answer = self._read(length * 4)
        if welcome != 1 or len(answer) < 28:
            raise NoInput("the X server lets nobody in")
        return answer[26], answer[27]

    def _extension(self, name: bytes) -> int:
        size = (len(name) + 3) // 4
        head = struct.pack("<BxHHxx", _QUERY_EXTENSION, 2 + size, len(name))
        answer, _ = self._ask(head + name.ljust(size * 4, b"\0"))
        if not answer[8]:
            raise NoInput(f"the X server has no {name.decode()}")
        return answer[9]

    def _key_map(self, first: int, count: int) -> KeyMap:
        answer, symbols = self._ask(struct.pack("<BxHBBxx", _GET_KEYBOARD_MAPPING, 2, first, count))
        return KeyMap(first, answer[1], struct.unpack(f"<{len(symbols) // 4}I", symbols))

    def _ask(self, request: bytes) -> tuple[bytes, bytes]:
        """The 32 bytes of a reply, and what follows them."""
        self._socket.sendall(request)
        answer = self._read(32)
        if answer[0] != _REPLY:
            raise NoInput("the X server refuses a request")
        return answer, self._read(struct.unpack_from("<I", answer, 4)[0] * 4)

    def _read(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                raise NoInput("the X server has ended")
            parts += part
        return bytes(parts)


def _connected(number: int) -> socket.socket:
    """A connection to a display of this machine."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(_TIME)
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where X servers are
    try:
        made.connect(path)
    except OSError:
        try:
            made.connect(f"\0{path}")
        except OSError:
            made.close()
            raise
    return made


def _key_change(code: int, symbol: int) -> bytes:
    """The request that gives a symbol to a key, with Shift and without."""
    return struct.pack("<BBHBBxxII", _CHANGE_KEYBOARD_MAPPING, 1, 4, code, 2, symbol, symbol)
