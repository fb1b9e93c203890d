"""Between places in a Python string and places in a Qt document.

Qt counts UTF-16 units, Python counts characters; they differ as soon as a text holds an emoji.
"""

from __future__ import annotations

from PySide6.QtGui import QTextCursor, QTextDocument

_WIDE = 0x10000


def to_qt(text: str, offset: int) -> int:
    """UTF-16 units before the character at `offset`."""
    before = text[:offset]
    return len(before) if before.isascii() else len(before) + sum(ord(char) >= _WIDE for char in before)


def to_python(text: str, position: int) -> int:
    """Characters before the UTF-16 unit at `position`."""
    if text.isascii():
        return min(position, len(text))
    units = 0
    for offset, char in enumerate(text):
        if units >= position:
            return offset
        units += 2 if ord(char) >= _WIDE else 1
    return len(text)


def cursor_for(document: QTextDocument, start: int, end: int) -> QTextCursor:
    """A cursor that selects the characters from `start` to `end`, clamped to the document."""
    text = document.toPlainText()
    last = document.characterCount() - 1
    cursor = QTextCursor(document)
    cursor.setPosition(min(to_qt(text, max(start, 0)), last))
    cursor.setPosition(min(to_qt(text, max(end, 0)), last), QTextCursor.MoveMode.KeepAnchor)
    return cursor
