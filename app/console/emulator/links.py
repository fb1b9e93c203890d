"""Links in a terminal: those that a program made, and addresses that it only wrote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.console.emulator.ghostty import Ghostty

_ADDRESS = re.compile(r"""\b(?:https?://|mailto:)[^\s<>"'`{}|\\^]+""")
_AFTER = ".,;:!?"
_PAIRS = {")": "(", "]": "["}


def link_at(terminal: Ghostty, at: tuple[int, int]) -> str:
    """The address that a cell in sight leads to; empty: to none."""
    if made := terminal.link(at):
        return made
    text, place = terminal.line_at(at)
    return next((address for start, address in _addresses(text) if start <= place < start + len(address)), "")


def _addresses(text: str) -> list[tuple[int, str]]:
    """Place and text of each address in a line, without what belongs to the sentence around it."""
    return [(found.start(), _bare(found.group())) for found in _ADDRESS.finditer(text)]


def _bare(address: str) -> str:
    """Without marks after it, and brackets that were opened before it."""
    while address[-1] in _AFTER or _is_closing(address):
        address = address[:-1]
    return address


def _is_closing(address: str) -> bool:
    last = address[-1]
    return last in _PAIRS and address.count(_PAIRS[last]) < address.count(last)
