"""Threads of sessions and recordings, and the objects whose signals they emit.

An object of Qt must not be destroyed by another thread than its own: a signal that is on its way would meet
what is half gone. So all that such a thread can reach is kept until it has ended, and let go in the thread of
the window.
"""

from __future__ import annotations

import threading
import time

from PySide6.QtCore import QObject, Signal

_reached: dict[threading.Thread, list[QObject]] = {}
"""Threads that were started, with what they can reach."""


class _Release(QObject):
    """Lives in the thread of the window."""

    ended = Signal(object)
    """A thread is at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.ended.connect(self._release)

    def _release(self, thread: threading.Thread) -> None:
        thread.join()
        _reached.pop(thread, None)


_release: _Release | None = None


def start(thread: threading.Thread, owner: QObject) -> None:
    """Start a thread that emits the signals of an object; to be called in the thread of the window."""
    global _release
    _release = _release or _Release()
    _reached[thread] = [owner]
    thread.start()


def keep(thread: threading.Thread, one: QObject) -> None:
    """What a thread uses besides, as long as it lives; to be called in the thread of the window."""
    if thread in _reached:
        _reached[thread].append(one)


def end() -> None:
    """To be called by such a thread as its last act."""
    assert _release is not None
    _release.ended.emit(threading.current_thread())


def wait_for_all(patience: float = 2.0) -> None:
    """Let all threads end that were told to, for so many seconds at most in all."""
    until = time.monotonic() + patience
    for thread in list(_reached):
        thread.join(max(0.0, until - time.monotonic()))
