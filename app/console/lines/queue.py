"""Lines on their way to a program that reads lines: those that wait here can still be changed (CB-BYP-07)."""

from __future__ import annotations

from dataclasses import dataclass

AHEAD = 4096
"""Bytes that may be under way to the node; lines beyond that wait here, where they can be taken back."""


@dataclass(frozen=True, slots=True)
class QueuedLine:
    """One line, or the end of the input."""

    text: str = ""
    is_end: bool = False

    @property
    def data(self) -> bytes:
        """What is sent."""
        return b"" if self.is_end else self.text.encode() + b"\n"


class LineQueue:
    """Lines in the order in which they were typed: first those under way, then those that wait here."""

    def __init__(self) -> None:
        self.waiting: list[QueuedLine] = []
        self._under_way: list[tuple[QueuedLine, int]] = []
        """With the place behind its last byte in all that this desk has sent."""
        self._given = self._confirmed = 0
        self.over = False
        """The end of the input was sent; the program reads nothing more."""

    @property
    def under_way(self) -> list[QueuedLine]:
        """Lines that were sent and that the node has not confirmed."""
        return [entry for entry, _ in self._under_way]

    @property
    def ends(self) -> bool:
        """True once the end of the input was asked for: no line can follow."""
        return self.over or any(entry.is_end for entry in self.waiting)

    def add(self, entry: QueuedLine) -> None:
        """Put a line at the end, before the end of the input; a second end changes nothing."""
        if not self.ends:
            self.waiting.append(entry)

    def withdraw(self, place: int) -> QueuedLine | None:
        """Take back the line at a place among those that wait; None: it has left meanwhile."""
        return self.waiting.pop(place) if 0 <= place < len(self.waiting) else None

    def change(self, place: int, text: str) -> None:
        """Write another text for the line at a place among those that wait, if it is still there."""
        if 0 <= place < len(self.waiting) and not self.waiting[place].is_end:
            self.waiting[place] = QueuedLine(text)

    def confirm(self, place: int) -> None:
        """The node has all bytes below `place`."""
        self._confirmed = max(self._confirmed, place)
        self._under_way = [(entry, end) for entry, end in self._under_way if end > place]

    def leaving(self) -> list[QueuedLine]:
        """Take the lines that may leave now; the end of the input leaves when all others have arrived."""
        left: list[QueuedLine] = []
        while self.waiting:
            entry = self.waiting[0]
            if self._under_way and (entry.is_end or self._given - self._confirmed >= AHEAD):
                break
            self.waiting.pop(0)
            left.append(entry)
            self.over = self.over or entry.is_end
            self._given += len(entry.data)
            if not entry.is_end:
                self._under_way.append((entry, self._given))
        return left

    def lose(self) -> list[QueuedLine]:
        """Another desk types now: what was under way may not arrive; returns it, and forgets it."""
        lost, self._under_way, self._given = self.under_way, [], self._confirmed
        return lost
