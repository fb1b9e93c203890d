"""Long work with progress: uploads, downloads, exports."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

_KEEP = 50
_PERIOD = 0.05


class Transfer(QObject):
    """One piece of work; ended ones stay in the list for a while."""

    changed = Signal()

    def __init__(
        self, title: str, cancel: Callable[[], object] | None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.title, self.cancel = title, cancel
        self.done, self.total = 0, 0
        self.result = ""
        """How it ended, in words; empty while it goes on."""
        self.began = time.time()
        self._told = 0.0

    @property
    def running(self) -> bool:
        """True until it ended."""
        return not self.result

    def advance(self, done: int, total: int) -> None:
        """Say how far it is, in bytes; shown at most 20 times a second."""
        self.done, self.total = done, total
        if time.monotonic() - self._told > _PERIOD or done >= total:
            self._told = time.monotonic()
            self.changed.emit()

    def end(self, result: str) -> None:
        """Say how it ended."""
        self.result = result
        self.changed.emit()


class Transfers(QObject):
    """All pieces of long work of the window, newest first."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.all: list[Transfer] = []

    def begin(self, title: str, cancel: Callable[[], object] | None = None) -> Transfer:
        """Add one; call its `advance` and `end`."""
        transfer = Transfer(title, cancel, self)
        transfer.changed.connect(self.changed)
        self.all.insert(0, transfer)
        del self.all[_KEEP:]
        self.changed.emit()
        return transfer

    @property
    def running(self) -> list[Transfer]:
        """Those that go on."""
        return [transfer for transfer in self.all if transfer.running]
