"""Input on its way to the program: kept until the agent has it, sent again after a cut, never twice."""

from __future__ import annotations

MOST = 1 << 20
"""Bytes of input that wait here; more is refused while there are any."""


class DeskInput:
    """Bytes by their place in what this desk has ever sent."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._start = 0
        """Place of the first byte that the agent does not have."""
        self._sent = 0
        """Place behind the last byte given to the present connection."""

    @property
    def confirmed(self) -> int:
        """Bytes that the agent has."""
        return self._start

    @property
    def unsent(self) -> int:
        """Bytes that the agent does not have yet, as far as we know."""
        return len(self._bytes)

    def add(self, data: bytes, *, always: bool = False) -> bool:
        """Take input; False if too much is waiting already, and it need not be taken `always`."""
        if self._bytes and len(self._bytes) + len(data) > MOST and not always:
            return False
        self._bytes += data
        return True

    def next(self) -> tuple[int, bytes]:
        """Place and bytes of what is to be sent now; it counts as sent."""
        place = self._sent
        data = bytes(memoryview(self._bytes)[place - self._start :])
        self._sent += len(data)
        return place, data

    def confirm(self, place: int) -> None:
        """The agent has all bytes below `place`."""
        have = max(0, min(place - self._start, len(self._bytes)))
        del self._bytes[:have]
        self._start += have

    def reconnect(self, place: int) -> None:
        """A new connection: the agent has what is below `place`, the rest is sent again."""
        self.confirm(place)
        self._sent = self._start

    def drop(self) -> None:
        """Another desk writes now: what waits is not sent any more."""
        self._bytes.clear()
        self._sent = self._start


class LineInput:
    """Input that goes out at Enter (CB-BYP-07)."""

    def __init__(self) -> None:
        self.line = b""
        """What was typed since the last Enter."""

    def type(self, data: bytes) -> bytes:
        """Add what was typed; returns the complete lines."""
        self.line += data
        whole, end, rest = self.line.rpartition(b"\n")
        self.line = rest
        return whole + end

    def rest(self) -> bytes:
        """What was typed without an Enter, because none will follow."""
        rest, self.line = self.line, b""
        return rest
