"""Control groups of the kernel by which processors are shared, in either version."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


def join_group_of(pid: int) -> None:
    """Go into the group in which another process is; where that is forbidden this process stays where it is.

    Raises OSError if there is no such process.
    """
    ours = _groups("self")
    for folder in _groups(str(pid)) - ours:
        with suppress(OSError):
            (folder / "cgroup.procs").write_text("0")


def _groups(process: str) -> set[Path]:
    """Folders that may be those of its groups."""
    found = set[Path]()
    for line in Path("/proc", process, "cgroup").read_text().splitlines():
        _, kinds, path = line.split(":", 2)
        if not kinds:
            found.add(_ROOT / path.lstrip("/"))
        elif "cpu" in kinds.split(","):
            found |= {_ROOT / kinds / path.lstrip("/"), _ROOT / "cpu" / path.lstrip("/")}
    return found
