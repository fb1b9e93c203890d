"""Keys that a terminal keeps for itself: the clipboard, search, the size of letters, its scroll-back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

if TYPE_CHECKING:
    from app.console.terminal.surface import TerminalSurface

COPY, PASTE, FIND = "Ctrl+Shift+C", "Ctrl+Shift+V", "Ctrl+Shift+F"
_ZOOMS = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1, Qt.Key.Key_Minus: -1, Qt.Key.Key_0: 0}
"""Keys that change the size of letters together with Ctrl; 0: as the desktop has it."""
_UNHEARD = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_PAGES = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


def run_shortcut(view: TerminalSurface, event: QKeyEvent) -> bool:
    """Do what the key means to the terminal itself; False where it belongs to the program."""
    keys = QKeySequence(event.keyCombination()).toString(QKeySequence.SequenceFormat.PortableText)
    control = event.modifiers() & ~_UNHEARD == Qt.KeyboardModifier.ControlModifier
    shift = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
    if keys == COPY:
        view.copy()
    elif keys == PASTE:
        view.paste()
    elif keys == FIND:
        view.find_asked.emit()
    elif control and event.key() in _ZOOMS:
        view.zoom(_ZOOMS[Qt.Key(event.key())])
    elif shift and event.key() in _PAGES and not view.terminal.alternate:
        view.scroll_lines(_PAGES[Qt.Key(event.key())] * max(1, view.terminal.size[1] - 1))
    elif shift and event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End) and not view.terminal.alternate:
        view.scroll_lines(
            -view.terminal.scroll().total if event.key() == Qt.Key.Key_Home else view.terminal.scroll().total
        )
    else:
        return False
    return True
