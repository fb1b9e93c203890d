"""Whatever consoles need is loaded beside the window: it takes a second, in which it would not answer."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent

from app.console.pace import BEAT_MS, Pace
from app.widgets import qt_types

_LATER_MS = 2500
"""After the window has begun to fill, and between two looks whether it has; sooner if a console is wanted."""


class ConsolePreload(QObject):
    """Loads once for the whole desktop; every pane asks one of its own."""

    changed = Signal()
    """Consoles can be opened now."""

    _loaded = threading.Event()
    _loading: threading.Thread | None = None
    _pace = Pace()

    def __init__(self, parent: QObject, filled: Callable[[], bool] = lambda: True) -> None:
        """`filled`: whether the window has all its rows; what loads before that takes time from them."""
        super().__init__(parent)
        self._filled = filled
        self._look = QTimer(self, interval=BEAT_MS)
        self._look.timeout.connect(self._looked)
        self._beat = QTimer(self, interval=BEAT_MS)
        self._beat.timeout.connect(self._beaten)
        self._step = QTimer(self, interval=0)
        self._step.timeout.connect(self._stepped)
        self._later = QTimer(self, interval=_LATER_MS)
        self._later.timeout.connect(self._begin_once_filled)
        self._later.start()

    def asked(self) -> bool:
        """Whether consoles can be opened; if not, `changed` tells when they can."""
        if self._loaded.is_set():
            return True
        self._pace.hurry()
        self._begin()
        self._look.start()
        return False

    def _looked(self) -> None:
        if self._loaded.is_set():
            self._look.stop()
            self.changed.emit()

    def _beaten(self) -> None:
        if self._loaded.is_set():
            self._beat.stop()
        else:
            self._pace.beat()

    def _begin_once_filled(self) -> None:
        if self._filled():
            self._begin()

    def _begin(self) -> None:
        self._later.stop()
        if ConsolePreload._loading is None and not self._step.isActive():
            self._types = qt_types.in_steps()
            self._step.start()

    def _stepped(self) -> None:
        """Make another few types; when all are there the thread may begin."""
        if ConsolePreload._loading is None and next(self._types, False) is None:
            return
        self._step.stop()
        if ConsolePreload._loading is None:
            # No daemon: one that is amid the library when Python ends takes the program down with it.
            ConsolePreload._loading = threading.Thread(
                target=_load, args=(first_key(), self._pace), name="loading consoles"
            )
            self._pace.beat()
            self._beat.start()
            ConsolePreload._loading.start()


def first_key() -> QKeyEvent:
    """A key to rehearse with: with the first one Qt makes the keyboard, in the window's thread alone."""
    return QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")


def _load(pressed: QKeyEvent, pace: Pace) -> None:
    sys.setprofile(pace.profiler())
    try:
        from app.console import shell_view, view
        from app.console.warm_up import rehearse

        assert shell_view, view
        rehearse(pressed)
    finally:
        sys.setprofile(None)
        # Should it not load, whoever opens a console gets the error where it can be told.
        ConsolePreload._loaded.set()
