"""What is refused of an answer, remembered up to a bound: a source may be wrong in every line."""

from __future__ import annotations

SHOWN = 20
"""Remarks that are kept; the others are counted."""
_LONGEST = 200


class Refusals:
    """The first remarks in words, and the number of all."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.count = 0

    def add(self, place: str, what: str) -> None:
        """Something was refused. `place`: the element or entry that says it."""
        self.count += 1
        self.note(place, what)

    def note(self, place: str, what: str) -> None:
        """Something is worth a word, though nothing was refused."""
        if len(self.shown) < SHOWN:
            text = f"{place}: {what}"
            self.shown.append(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")

    def take(self, other: Refusals) -> None:
        """Add what another part of the same answer noted."""
        self.count += other.count
        self.shown.extend(other.shown[: SHOWN - len(self.shown)])
