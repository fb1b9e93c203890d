"""What desks typed to one program, in the order in which it gets it: on disk before it is sent anywhere.

The site is sent bytes by their place in this order, so that nothing typed is there twice however often a
broker dies or a network is cut between sending and hearing (CB-BYP-04).
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

from broker_core.worker.line_files import CONTROL, INPUT, end_line, signal_line

_DESKS = "desks"


class LineJournal:
    """Three files that only grow: the bytes, the other wishes, and whose bytes they are.

    Methods that write wait for the disk. Raises OSError where the disk takes nothing; nothing counts then.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._files = {name: _opened(folder / name) for name in (INPUT, CONTROL, _DESKS)}
        self.size = 0
        """Bytes of input."""
        self.writer = ""
        """The desk whose input counts."""
        self._had: dict[str, int] = {}
        """Desk to the bytes that were taken of it."""
        self._pending: dict[str, deque[tuple[int, int]]] = {}
        """Desk to the ends of its pieces, in its own bytes and in the input, that the site may not have."""
        self._arrived: dict[str, int] = {}
        for line in _whole_lines(self._files[_DESKS]):
            self._note(*line.decode().split())
        os.ftruncate(self._files[INPUT], self.size)
        wishes = _whole_lines(self._files[CONTROL])
        self._wishes = sum(len(line) + 1 for line in wishes)
        self.ended = any(line.startswith(b"end ") for line in wishes)
        """No input follows."""

    def close(self) -> None:
        """Give the files back; who comes late gets an OSError, and no file that has their numbers by then."""
        files, self._files = self._files, dict.fromkeys(self._files, -1)
        for file in files.values():
            os.close(file)

    def add(self, desk: str, offset: int, data: bytes) -> None:
        """Take input of the desk that writes; what was taken before is left out.

        What was under way when another desk took the input over is not heard. Raises ValueError where
        something before it is missing.
        """
        if self.ended or desk != self.writer:
            return
        had = self._had.get(desk, 0)
        if offset > had:
            raise ValueError("input is missing")
        fresh = data[had - offset :]
        if not fresh:
            return
        _put(self._files[INPUT], fresh, self.size)
        self._record("typed", desk, str(had + len(fresh)), str(self.size + len(fresh)))

    def give_to(self, desk: str) -> None:
        """From now on the input of this desk counts."""
        if desk != self.writer:
            self._record("writer", desk)

    def end(self) -> None:
        """No input follows."""
        if not self.ended:
            self._wish(end_line(self.size))
            self.ended = True

    def signal(self, name: str) -> None:
        """Have a signal sent; raises ValueError for what is none."""
        self._wish(signal_line(name))

    def typed(self, place: int, most: int) -> bytes:
        """Input from a place on."""
        return os.pread(self._files[INPUT], max(0, min(most, self.size - place)), place)

    def wishes(self, place: int) -> bytes:
        """The other wishes from a place on."""
        return os.pread(self._files[CONTROL], self._wishes - place, place) if place < self._wishes else b""

    def arrived(self, desk: str, place: int) -> int:
        """How many bytes of a desk are at a site that has the input below `place`."""
        pending = self._pending.get(desk, deque())
        while pending and pending[0][1] <= place:
            self._arrived[desk], _ = pending.popleft()
        return self._arrived.get(desk, 0)

    def _record(self, *words: str) -> None:
        file = self._files[_DESKS]
        _put(file, f"{' '.join(words)}\n".encode(), os.fstat(file).st_size)
        self._note(*words)

    def _note(self, what: str, desk: str, end: str = "", place: str = "") -> None:
        if what == "writer":
            self.writer = desk
            return
        self._had[desk], self.size = int(end), int(place)
        self._pending.setdefault(desk, deque()).append((self._had[desk], self.size))

    def _wish(self, line: bytes) -> None:
        _put(self._files[CONTROL], line, self._wishes)
        self._wishes += len(line)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _put(file: int, data: bytes, place: int) -> None:
    """Write at a place and wait for the disk; what a failure left is cut off."""
    try:
        done = 0
        while done < len(data):
            done += os.pwrite(file, data[done:], place + done)
        os.fdatasync(file)
    except OSError:
        os.ftruncate(file, place)
        raise


def _whole_lines(file: int) -> list[bytes]:
    """Lines of a file; a part of one, which a death left, is cut off."""
    content = os.pread(file, os.fstat(file).st_size, 0)
    whole = content.rfind(b"\n") + 1
    os.ftruncate(file, whole)
    return content[:whole].splitlines()
