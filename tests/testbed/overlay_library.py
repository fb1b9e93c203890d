"""The library by which programs are carried where they get no namespace, compiled for this machine."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "packaging/preload/overlay_preload.c"


@cache
def overlay_library() -> Path:
    """Its file; takes a second where it has to be made."""
    made = Path(sys.prefix) / "crossdesk-overlay-for-tests.so"
    with Path(f"{made}.busy").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists() or made.stat().st_mtime < SOURCE.stat().st_mtime:
            part = made.with_suffix(".part")
            words = ["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", part, SOURCE]
            subprocess.run(words, check=True)
            part.rename(made)
    return made
