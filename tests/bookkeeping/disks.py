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


@contextmanager
def real_disk(point: Path, megabytes: int) -> Iterator[Path]:
    """An ext4 file system in a file, mounted on `point`; it can be made to fail."""
    image = point.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)


def make_read_only(point: Path) -> None:
    """Let the kernel make the file system read-only, as it does after an error of the device."""
    subprocess.run(["mount", "-o", "remount,abort", str(point)], check=True)


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
