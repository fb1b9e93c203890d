"""A terminal is used once where nobody waits for it.

The library's types and functions are made out of their C declarations at their first use, for milliseconds
each: all together the first terminal would stop the window for a second.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.console.emulator.frame import ScreenFrame
from app.console.emulator.ghostty import Ghostty
from app.console.emulator.keys import MOTION, PRESS, KeyEncoder
from app.console.emulator.search import ScreenSearch

_TEXT = (
    "plain \x1b[1;31mred \x1b[48;2;1;2;3mon\x1b[K\r\n漢e\u0301 \x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\\x1b[0m"
    "\r\n\x1b[41m\x1b[K\x1b[0m\x1b[c\x1b[6n\x07\x1b]2;title\x07\x1b]52;c;eA==\x07\x1b[14t\x1b[?996n"
)
_NO = Qt.KeyboardModifier.NoModifier


def rehearse(pressed: QKeyEvent) -> None:
    """Do everything once that terminals do; in any thread."""
    terminal = Ghostty(20, 5)
    frame, keys = ScreenFrame(terminal), KeyEncoder(terminal)
    terminal.colors("#000000", "#ffffff", "#0000ff", ["#000000"])
    terminal.feed(_TEXT.encode())
    terminal.said()
    frame.update()
    _look_back(terminal, frame)
    keys.key(pressed)
    terminal.feed(b"\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[?1004h")
    for action, button in ((PRESS, Qt.MouseButton.LeftButton), (MOTION, 0)):
        keys.mouse(action, button, (1, 1), (8, 16), (160, 80), _NO)
    keys.paste("text")
    keys.focus(True)
    for one in (keys, frame, terminal):
        one.close()


def _look_back(terminal: Ghostty, frame: ScreenFrame) -> None:
    """Select, search, scroll, resize."""
    terminal.feed(b"line\r\n" * 20)
    terminal.resize(24, 6, 8, 16)
    terminal.scroll_by(-30)
    terminal.scroll_to(0)
    terminal.select((0, 0), (3, 0))
    terminal.select((1, 0), (1, 0), by="word")
    terminal.select((1, 0), (1, 0), by="line")
    terminal.select_all()
    assert terminal.has_selection
    assert terminal.selected()
    frame.update()
    for at in ((0, 0), (5, 1)):
        terminal.link(at)
        terminal.line_at(at)
    found = ScreenSearch(terminal, "e")
    while not found.work(0.01):
        pass
    found.step(-1)
    found.step(1)
    found.in_sight()
    found.close()
    terminal.deselect()
    terminal.scroll_to_end()
    assert terminal.scroll().at_end
    assert terminal.title == "title"
    assert not terminal.alternate
    assert not terminal.takes_mouse
    assert terminal.cursor
    frame.update()
