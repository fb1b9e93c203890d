"""A folder of this process for copies that other programs open; nothing of it outlives it for long."""

from __future__ import annotations

import secrets
import shutil
import weakref
from pathlib import Path

from platformdirs import user_cache_path
from PySide6.QtCore import QLockFile

_PATIENCE_MS = 10_000
"""How long to wait for another desktop of the same user that makes its own just now."""


class OwnFolder:
    """Made when it is first needed, in the user's own cache, readable by the user only.

    It goes with its owner. What killed desktops of this machine left goes when the next one makes its own.
    """

    def __init__(self) -> None:
        self._base = user_cache_path("crossdesk") / "copies"
        self._path: Path | None = None

    def path(self) -> Path:
        """The folder; raises OSError where the cache cannot be written."""
        if self._path is None:
            self._base.mkdir(mode=0o700, parents=True, exist_ok=True)
            making = QLockFile(str(self._base / "making"))
            if not making.tryLock(_PATIENCE_MS):
                raise OSError(f"{self._base} cannot be locked.")
            try:
                self._clear()
                self._path, lock = self._make()
            finally:
                making.unlock()
            weakref.finalize(self, _remove, lock, self._path)
        return self._path

    def _make(self) -> tuple[Path, QLockFile]:
        path = self._base / secrets.token_hex(8)
        path.mkdir(mode=0o700)
        lock = _lock_of(path)
        if not lock.tryLock(0):
            raise OSError(f"{path} cannot be locked.")
        return path, lock

    def _clear(self) -> None:
        """Remove the folders of desktops that are gone; Qt takes over the lock of a dead process."""
        for path in self._base.iterdir():
            if path.is_dir() and (lock := _lock_of(path)).tryLock(0):
                _remove(lock, path)


def _lock_of(path: Path) -> QLockFile:
    lock = QLockFile(str(path / ".lock"))
    lock.setStaleLockTime(0)  # never by its age
    return lock


def _remove(lock: QLockFile, path: Path) -> None:
    lock.unlock()
    shutil.rmtree(path, ignore_errors=True)  # the next desktop tries again
