"""A reserve on the disk, given up when it is full so that running jobs' events can still be kept."""

from __future__ import annotations

import os
from pathlib import Path

from broker_core.bookkeeping.faults import remove

BALLAST_FILE = "reserve"
BALLAST_BYTES = 1 << 20


class Ballast:
    """A file of one MiB beside the store. While it cannot be had, the disk counts as full."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / BALLAST_FILE

    @property
    def present(self) -> bool:
        """True if the reserve is there; it is made after the first opening of a store."""
        return self._path.exists()

    def restore(self) -> bool:
        """Have the reserve on the disk; False unless there is room for it and as much again beside it.

        Otherwise the room that giving it up has made would count as room found.
        """
        try:
            if not self.present and _free(self._path.parent) < 2 * BALLAST_BYTES:
                return False
            self._allocate()
        except OSError:
            remove(self._path)
            return False
        return True

    def _allocate(self) -> None:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(file).st_size < BALLAST_BYTES:
                os.posix_fallocate(file, 0, BALLAST_BYTES)
        finally:
            os.close(file)

    def drop(self) -> None:
        """Give the reserve up; on a read-only file system nothing can be given up."""
        remove(self._path)


def _free(directory: Path) -> int:
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize
