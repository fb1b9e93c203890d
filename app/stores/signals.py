"""What the stores have of Qt: signals that tell of changes, and a timer that tells later."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal


class _Later(QObject):
    """Calls what is due after a while; one thing at a time."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._due)
        self._call: Callable[[], None] | None = None

    @property
    def waiting(self) -> bool:
        """True while something is due."""
        return self._timer.isActive()

    def later(self, milliseconds: int, call: Callable[[], None]) -> None:
        """Call after so many milliseconds, in place of what was due before."""
        self._call = call
        self._timer.start(milliseconds)

    def stop(self) -> None:
        """Call nothing."""
        self._timer.stop()

    def _due(self) -> None:
        if self._call is not None:
            self._call()


class JobSignals(_Later):
    """What the store of jobs tells."""

    changed = Signal(object)
    """set[str] of ids, at most 10 times a second; an empty set: everything."""
    clearing = Signal()
    """All rows are about to go; who holds row numbers lets go of them."""
    loaded = Signal()
    """Every row that the broker had at the start is here."""


class SiteSignals(QObject):
    """What the store of sites tells."""

    changed = Signal()


class SlotSignals(QObject):
    """What the store of slots tells."""

    changed = Signal()


class ResourceSignals(_Later):
    """What the store of resources tells."""

    changed = Signal()
    failed = Signal(str)
    """Why they could not be read."""
