"""What agent and desk say to each other inside their SSH connection, with the place of every byte.

Each frame: one letter, four bytes of length, the content. Output and input carry the offset of their first
byte in the stream, so that a new connection goes on where the last one broke, exactly (CB-BYP-04).
Nothing but the standard library is imported, because agents on worker nodes use it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

STREAM_PATH = "/crossdesk/stream"
"""UNIX socket path that a desk names to reach the program's streams; no such file exists."""
DIRECT_PATH = "/crossdesk/direct"
"""The same for asking the agent to call the desk itself, without a relay."""
DISPLAY_PATH = "/crossdesk/display"
"""The same for windows of the program: the desk offers it, the agent opens a channel for each."""
DESKS_PATH = "/crossdesk/desks"
"""The same for telling the agent whom to let in; the broker alone may."""
TUNNEL_PATH = "/crossdesk/tunnel"
"""The same for a stream of bytes that outlives connections and leads to an SSH server of the agent."""
SERVICES_PATH = "/crossdesk/services"
"""The same for hearing of the services that the job offers."""
PARAMETERS_PATH = "/crossdesk/parameters"
"""The same for changing parameters of the program, and for hearing of changes by other desks."""
SCREEN_PATH = "/crossdesk/screen"
"""The same for seeing the program's virtual screen, and for its mouse and keyboard."""
DESK_USER = "desk"
"""Name under which desks log in, with a dash and the name of a session where it is the connection of one: a
new one takes the place of an older one, which is dead though the agent may not know it yet."""
STDIN, STDOUT, STDERR = 0, 1, 2
WORD, OUTPUT, INPUT, HEARD = b"w", b"o", b"i", b"h"
"""A message in JSON; output; input; the offset up to which a stream has arrived."""
PART = 60 * 1024
"""Bytes of output in one frame, at most."""
MOST = 1 << 20
"""Bytes that a frame may have; more is no frame of ours."""
_HEAD = struct.Struct("!cI")
_PLACE = struct.Struct("!BQ")


class BadFrame(Exception):
    """What arrived is no frame."""


def word(what: str, **values: Any) -> bytes:
    """A message: what it is about, and values that JSON can hold."""
    content = json.dumps({"what": what, **values}, separators=(",", ":")).encode()
    return _HEAD.pack(WORD, len(content)) + content


def output(stream: int, offset: int, data: bytes) -> bytes:
    """Bytes that the program wrote."""
    return b"".join((_HEAD.pack(OUTPUT, _PLACE.size + len(data)), _PLACE.pack(stream, offset), data))


def keys(offset: int, data: bytes) -> bytes:
    """Bytes for the program's standard input."""
    return b"".join((_HEAD.pack(INPUT, _PLACE.size + len(data)), _PLACE.pack(STDIN, offset), data))


def heard(stream: int, offset: int) -> bytes:
    """All bytes of a stream below `offset` have arrived."""
    return _HEAD.pack(HEARD, _PLACE.size) + _PLACE.pack(stream, offset)


def read_word(content: bytes) -> dict[str, Any]:
    """The message in a WORD frame; raises BadFrame."""
    try:
        found = json.loads(content)
    except ValueError as error:
        raise BadFrame("a message is not JSON") from error
    if not isinstance(found, dict) or not isinstance(found.get("what"), str):
        raise BadFrame("a message does not say what it is about")
    return found


def read_place(content: bytes) -> tuple[int, int, bytes]:
    """Stream, offset and bytes of an OUTPUT, INPUT or HEARD frame; raises BadFrame."""
    if len(content) < _PLACE.size:
        raise BadFrame("a frame is too short")
    stream, offset = _PLACE.unpack_from(content)
    return stream, offset, content[_PLACE.size :]


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._left = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Kind and content of every frame that is complete now; raises BadFrame."""
        self._left += data
        start, end = 0, len(self._left)
        try:
            while end - start >= _HEAD.size:
                kind, length = _HEAD.unpack_from(self._left, start)
                if length > MOST or kind not in (WORD, OUTPUT, INPUT, HEARD):
                    raise BadFrame("what arrived is no frame")
                if end - start < _HEAD.size + length:
                    break
                start += _HEAD.size + length
                yield kind, bytes(memoryview(self._left)[start - length : start])
        finally:
            del self._left[:start]
