"""When output of a text program is shown: at an end of line, if there is much, in time (CB-BYP-06)."""

from __future__ import annotations


class Flushing:
    """Holds output back until a rule lets it go; the caller keeps the clock."""

    def __init__(self, size: int = 4096, time_out: float = 0.2) -> None:
        self._size = size
        self.time_out = time_out
        """Seconds after which what is held is to be shown: a prompt has no end of line."""
        self._held = bytearray()

    def add(self, data: bytes) -> bytes:
        """Take output; returns what is to be shown now."""
        self._held += data
        if len(self._held) >= self._size:
            return self.flush()
        lines = self._held.rfind(b"\n") + 1
        shown = bytes(self._held[:lines])
        del self._held[:lines]
        return shown

    def flush(self) -> bytes:
        """All that is held."""
        shown = bytes(self._held)
        self._held.clear()
        return shown

    @property
    def size(self) -> int:
        """Bytes that wait for the time-out."""
        return len(self._held)
