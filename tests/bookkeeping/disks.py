"""A small disk that a test can fill."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILLER = "filler"


@contextmanager
def small_disk(point: Path, megabytes: int) -> Iterator[Path]:
    """A file system in memory of that size, mounted on `point`."""
    point.mkdir()
    size = f"size={megabytes}m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "crossdesk-test", str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)


def fill(point: Path) -> None:
    """Leave no byte free."""
    with (point / FILLER).open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    assert os.statvfs(point).f_bavail == 0


def make_room(point: Path) -> None:
    """Free what `fill` took."""
    (point / FILLER).unlink()
