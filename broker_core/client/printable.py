"""Text of unknown origin, made fit to be shown: names and messages of jobs, files, hosts, other users. Pure.

What moves a cursor, colors, rings, or turns the direction of reading around is written as an escape instead:
all control characters (C0, C1, ESC among them), and those that show nothing (the bidirectional ones too).
"""

from __future__ import annotations


def printable(text: str) -> str:
    """One line in which every character shows; a line break is written as an escape, too."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def printable_text(text: str) -> str:
    """The same for a text of several lines: line breaks stay."""
    return "\n".join(map(printable, text.split("\n")))
