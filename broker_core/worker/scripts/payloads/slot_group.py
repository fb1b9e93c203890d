"""The control group of what a process of this program minds, where a glidein can divide that of its job."""

from __future__ import annotations

import functools
import os
from contextlib import suppress

from broker_core.worker.scripts.plain.records import write

_USUAL = {"cpu.weight.nice": "0", "cpu.shares": "1024"}
"""The weight of nice value 0, in either version of control groups."""


class SlotGroup:
    """One of this process, below those of its glidein, which gives it other weights (`glidein.sh`)."""

    def __init__(self) -> None:
        self._weights = list[tuple[str, str]]()
        """Files with its weight, and that of nice value 0."""

    def enter(self, groups: str) -> None:
        """Make it, and go there. `groups`: where; empty: there are none."""
        if not groups:
            return
        folder = f"{groups}/{os.getpid()}"
        with suppress(OSError):  # processes have nice values then
            os.mkdir(folder)
            write(f"{folder}/cgroup.procs", f"{os.getpid()}\n")
            paths = [(f"{folder}/{name}", usual) for name, usual in _USUAL.items()]
            self._weights = [(path, usual) for path, usual in paths if os.path.exists(path)]

    def begin(self) -> None:
        """What begins now gives way to nobody."""
        for path, usual in self._weights:
            write(path, usual)


@functools.cache
def slot_group() -> SlotGroup:
    """That of this process."""
    return SlotGroup()
