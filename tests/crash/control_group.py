"""A control group of a test: a limit that the kernel itself enforces on a broker and all it starts."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.waiting import wait_until

_ROOT = Path("/sys/fs/cgroup")


class ControlGroup:
    """One group under a controller (`pids`, `memory` or `cpu`), of the first or the second hierarchy."""

    def __init__(self, folder: Path, newer: bool) -> None:
        self.folder = folder
        self.newer = newer

    def take(self, pid: int) -> None:
        """Put a process in; what it starts from now on is in as well."""
        (self.folder / "cgroup.procs").write_text(str(pid))

    @property
    def tasks(self) -> int:
        """Processes and threads in it now."""
        return int((self.folder / "pids.current").read_text())

    @property
    def refused(self) -> int:
        """How often the kernel refused a new process or thread."""
        words = (self.folder / "pids.events").read_text().split()
        return int(words[words.index("max") + 1])

    @property
    def used(self) -> int:
        """Bytes of memory that it uses now."""
        name = "memory.current" if self.newer else "memory.usage_in_bytes"
        return int((self.folder / name).read_text())

    def limit_tasks(self, most: int | None) -> None:
        """Let it have so many processes and threads at most; None: any number."""
        (self.folder / "pids.max").write_text("max" if most is None else str(most))

    def limit_memory(self, most: int) -> None:
        """Let it have so many bytes at most, without swapping; beyond that the kernel kills."""
        (self.folder / ("memory.max" if self.newer else "memory.limit_in_bytes")).write_text(str(most))
        with suppress(OSError):  # no swap on this machine, or no account of it
            swap, said = (
                ("memory.swap.max", "0") if self.newer else ("memory.memsw.limit_in_bytes", str(most))
            )
            (self.folder / swap).write_text(said)

    def remove(self) -> None:
        """Let what is left in it go, and remove it."""
        outside = self.folder.parent / "cgroup.procs"
        for pid in (self.folder / "cgroup.procs").read_text().split():
            with suppress(OSError):
                outside.write_text(pid)
        wait_until(self._gone, what="the control group is empty")

    def _gone(self) -> bool:
        try:
            self.folder.rmdir()
        except OSError:
            return False
        return True


def available(controller: str) -> bool:
    """True if groups of a controller can be made here: they need root and a kernel that lends them."""
    return os.getuid() == 0 and _parent(controller) is not None


def _parent(controller: str) -> tuple[Path, bool] | None:
    older = _ROOT / controller
    if (older / "cgroup.procs").exists():
        return (older, False) if os.access(older, os.W_OK) else None
    control = _ROOT / "cgroup.subtree_control"
    if not control.exists() or controller not in (_ROOT / "cgroup.controllers").read_text().split():
        return None
    try:
        control.write_text(f"+{controller}")
    except OSError:
        return None
    return _ROOT, True


@contextmanager
def control_group(controller: str) -> Iterator[ControlGroup]:
    """A new group, removed afterwards."""
    found = _parent(controller)
    assert found is not None, f"no control group for {controller} can be made here"
    parent, newer = found
    folder = parent / f"crossdesk-test-{secrets.token_hex(6)}"
    folder.mkdir()
    group = ControlGroup(folder, newer)
    try:
        yield group
    finally:
        group.remove()


if __name__ == "__main__":
    sys.exit(not all(available(controller) for controller in ("pids", "memory", "cpu")))
