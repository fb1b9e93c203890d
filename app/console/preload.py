"""Whatever consoles need is loaded beside the window: it takes a second, in which it would not answer."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent

from app.widgets import qt_types

_LATER_MS = 2500
"""After the window has begun to fill, and between two looks whether it has; sooner if a console is wanted."""
_WORK_S, _REST_S = 0.0005, 0.003
"""Seconds that loading works and rests in turn: all the time it would keep from the window what both need."""
_BUSY_S = 0.03
"""Seconds between two signs of the window from which on it has something to do: then loading only rests."""
_BLOCKED_S = 0.1
"""Seconds without a sign of the window after which it may be waiting for what is loaded here."""


class ConsolePreload(QObject):
    """Loads once for the whole desktop; every pane asks one of its own."""

    changed = Signal()
    """Consoles can be opened now."""

    _loaded = threading.Event()
    _loading: threading.Thread | None = None
    _wanted = threading.Event()
    """Somebody waits for a console."""
    _seen = 0.0
    """When the window last gave a sign, which it does every 20 ms if it has nothing to do."""
    _busy = False
    """Whether that came late."""

    def __init__(self, parent: QObject, filled: Callable[[], bool] = lambda: True) -> None:
        """`filled`: whether the window has all its rows; what loads before that takes time from them."""
        super().__init__(parent)
        self._filled = filled
        self._look = QTimer(self, interval=20)
        self._look.timeout.connect(self._looked)
        self._step = QTimer(self, interval=0)
        self._step.timeout.connect(self._stepped)
        self._later = QTimer(self, interval=_LATER_MS)
        self._later.timeout.connect(self._begin_once_filled)
        self._later.start()

    def asked(self) -> bool:
        """Whether consoles can be opened; if not, `changed` tells when they can."""
        if self._loaded.is_set():
            return True
        self._wanted.set()
        self._begin()
        return False

    @classmethod
    def rest(cls) -> None:
        """Let the window work first, unless anybody waits for what is loaded."""
        while time.monotonic() - cls._seen < _BLOCKED_S:
            if cls._wanted.wait(_REST_S) or not cls._busy:
                return

    def _looked(self) -> None:
        now = time.monotonic()
        ConsolePreload._busy = now - ConsolePreload._seen > _BUSY_S
        ConsolePreload._seen = now
        if self._loaded.is_set():
            self._look.stop()
            self.changed.emit()

    def _begin_once_filled(self) -> None:
        if self._filled():
            self._begin()

    def _begin(self) -> None:
        self._later.stop()
        self._look.start()
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


def _with_rests(rest: Callable[[], None]) -> Callable[..., None]:
    """What a thread is to do at each of its calls, as for a profiler, so that it rests most of the time."""
    rested = time.perf_counter()

    def called(*of: object) -> None:
        nonlocal rested
        if time.perf_counter() - rested > _WORK_S:
            rest()
            rested = time.perf_counter()

    return called


def _load(pressed: QKeyEvent) -> None:
    sys.setprofile(_with_rests(ConsolePreload.rest))
    try:
        from app.console import shell_view, view
        from app.console.warm_up import rehearse

        assert shell_view, view
        rehearse(pressed)
    finally:
        sys.setprofile(None)
        # Should it not load, whoever opens a console gets the error where it can be told.
        ConsolePreload._loaded.set()
