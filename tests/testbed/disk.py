"""A file system that is soon full; needs root."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """One of 768 KiB at `place`, which is made."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=768k", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
