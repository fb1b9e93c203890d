"""What the machine gives in this minute: without it no figure can be compared with another."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_SECONDS = 0.5


def rates(directory: Path | None = None) -> dict[str, float]:
    """`posix_spawn_per_s` (of /bin/true, waited for) and `fsync_per_s` (of 4 kB written), and the load."""
    return {
        "posix_spawn_per_s": round(_rate(_spawn), 1),
        "fsync_per_s": round(_fsync(directory), 1),
        "load": round(os.getloadavg()[0], 2),
    }


def _spawn() -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def _fsync(directory: Path | None) -> float:
    with tempfile.TemporaryFile(dir=directory) as stream:

        def write() -> None:
            os.pwrite(stream.fileno(), b"x" * 4096, 0)
            os.fsync(stream.fileno())

        return _rate(write)


def _rate(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    count = 0
    while time.perf_counter() - begin < _SECONDS:
        work()
        count += 1
    return count / (time.perf_counter() - begin)
