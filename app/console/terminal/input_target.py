"""What is typed at a terminal goes to: its screen, the line below it, or nobody any more."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from app.console.splits.part import LEFT


class InputTarget(Enum):
    """Who gets what is typed."""

    SCREEN = "screen"
    """The program, key by key."""
    LINE = "line"
    """The program, line by line: the terminal shows no cursor."""
    NOBODY = "nobody"
    """The program has ended: keys mean what they mean in the rest of the window."""

    def takes(self, keys: QKeySequence) -> bool:
        """True for keys that are not the window's while the terminal has the keyboard."""
        return self is not InputTarget.NOBODY and keys not in LEFT

    def takes_tab(self, key: int) -> bool:
        """True for the keys that move on to the next control, where they do not."""
        return self is not InputTarget.NOBODY and key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
