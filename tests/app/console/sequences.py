"""Control sequences, and screens after them."""

from __future__ import annotations

from app.console.emulator.ghostty import Ghostty

CSI = "\x1b["


LETTERS = "\r\n".join(letter * 5 for letter in "ABCDE")
"""Fills a screen of five rows."""


def screen(sequence: str, columns: int = 20, rows: int = 5) -> list[str]:
    """What five rows show after a sequence; blank rows at the end are left out."""
    terminal = Ghostty(columns, rows)
    terminal.feed(sequence.encode())
    text = [line.rstrip() for line in terminal.text().splitlines()]
    terminal.close()
    while text and not text[-1]:
        text.pop()
    return text
