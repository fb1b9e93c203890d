"""From bytes to records, in whatever pieces they come; what is none is counted and skipped."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jobs.published.records import ArrayHeader, Record, read_line
from broker_core.jobs.published.texts import NotARecord

MOST_LINE = 4 << 20
"""Bytes of a line; a longer one is skipped."""


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """A record, and where it stands among the bytes."""

    record: Record
    start: int
    size: int


class RecordDecoder:
    """Takes bytes in their order and returns the records that are whole."""

    def __init__(self) -> None:
        self.position = 0
        """Bytes that were fed."""
        self.unreadable = 0
        """Lines that were no records."""
        self.reason = ""
        """What was wrong with the first of them."""
        self._rest = bytearray()
        self._searched = 0
        """Bytes of the rest that have no end of a line."""
        self._header: tuple[ArrayHeader, int] | None = None
        """An array whose bytes are still to come, and the size of its line."""
        self._skipping = False
        """The rest of a line that is too long is thrown away."""

    def feed(self, content: bytes) -> list[Decoded]:
        """Take the next bytes; returns the records that they complete."""
        self.position += len(content)
        self._rest += content
        found: list[Decoded] = []
        at = 0
        while True:
            after = self._payload(at, found) if self._header else self._line(at, found)
            if after == at:
                break
            at = after
        del self._rest[:at]
        self._searched = max(0, self._searched - at)
        if self._header is None and len(self._rest) > MOST_LINE:
            self._refuse("A line is too long.")
            self._drop()
        return found

    def _line(self, at: int, found: list[Decoded]) -> int:
        """Read the line that begins at `at`; returns where the next begins, `at` if it is not whole."""
        end = self._rest.find(b"\n", max(at, self._searched))
        if end < 0:
            self._searched = len(self._rest)
            return at
        # What was not brought of a file that is very large is a hole of zeros.
        line = bytes(self._rest[at:end]).lstrip(b"\0").strip()
        if self._skipping:
            self._skipping = False
        elif len(line) > MOST_LINE:
            self._refuse("A line is too long.")
        elif line:
            self._read(line, end + 1 - at, at, found)
        return end + 1

    def _read(self, line: bytes, size: int, at: int, found: list[Decoded]) -> None:
        try:
            record = read_line(line)
        except NotARecord as error:
            self._refuse(str(error))
            return
        if isinstance(record, ArrayHeader):
            self._header = (record, size)
        else:
            found.append(Decoded(record, self._offset(at), size))

    def _payload(self, at: int, found: list[Decoded]) -> int:
        """Take the bytes of an array, and the end of a line that may follow them."""
        assert self._header is not None
        header, before = self._header
        end = at + header.size
        if len(self._rest) < end:
            return at
        self._header = None
        start = self._offset(at) - before
        found.append(Decoded(header.record(bytes(self._rest[at:end])), start, before + header.size))
        return end

    def _offset(self, at: int) -> int:
        return self.position - len(self._rest) + at

    def _refuse(self, reason: str) -> None:
        self.unreadable += 1
        self.reason = self.reason or reason

    def _drop(self) -> None:
        self._rest.clear()
        self._searched = 0
        self._skipping = True
