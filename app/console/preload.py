"""Whatever consoles need is loaded beside the window: it takes a second, in which it would not answer."""

from __future__ import annotations

import threading

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent

from app.console.emulator.frame import ScreenFrame
from app.console.emulator.ghostty import Ghostty
from app.console.emulator.keys import MOTION, PRESS, KeyEncoder
from app.console.emulator.search import ScreenSearch
from app.widgets import qt_types

_LATER_MS = 2500
"""After the window has begun to fill; sooner if a console is wanted."""
_TEXT = (
    "plain \x1b[1;31mred \x1b[48;2;1;2;3mon\x1b[K\r\n漢e\u0301 \x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\\x1b[0m"
    "\r\n\x1b[41m\x1b[K\x1b[0m\x1b[c\x1b[6n\x07\x1b]2;title\x07\x1b]52;c;eA==\x07\x1b[14t\x1b[?996n"
)
_NO = Qt.KeyboardModifier.NoModifier


class ConsolePreload(QObject):
    """Loads once for the whole desktop; every pane asks one of its own."""

    changed = Signal()
    """Consoles can be opened now."""

    _loaded = threading.Event()
    _loading: threading.Thread | None = None

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._look = QTimer(self, interval=20)
        self._look.timeout.connect(self._looked)
        self._step = QTimer(self, interval=0)
        self._step.timeout.connect(self._stepped)
        self._later = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._later.timeout.connect(self._begin)
        self._later.start()

    def asked(self) -> bool:
        """Whether consoles can be opened; if not, `changed` tells when they can."""
        if self._loaded.is_set():
            return True
        self._begin()
        self._look.start()
        return False

    def _looked(self) -> None:
        if self._loaded.is_set():
            self._look.stop()
            self.changed.emit()

    def _begin(self) -> None:
        if ConsolePreload._loading is None and not self._step.isActive():
            self._types = qt_types.in_steps()
            self._step.start()

    def _stepped(self) -> None:
        """Make another few types; when all are there the thread may begin."""
        if ConsolePreload._loading is None and next(self._types, False) is None:
            return
        self._step.stop()
        if ConsolePreload._loading is None:
            ConsolePreload._loading = threading.Thread(
                target=_load, args=(first_key(),), name="loading consoles", daemon=True
            )
            ConsolePreload._loading.start()


def first_key() -> QKeyEvent:
    """A key to rehearse with: with the first one Qt makes the keyboard, in the window's thread alone."""
    return QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")


def _load(pressed: QKeyEvent) -> None:
    try:
        from app.console import shell_view, view

        assert shell_view, view
        rehearse(pressed)
    finally:
        # Should it not load, whoever opens a console gets the error where it can be told.
        ConsolePreload._loaded.set()


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
