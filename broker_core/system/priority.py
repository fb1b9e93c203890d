"""Whose turn it is where a machine has more work than processors."""

from __future__ import annotations

import contextlib
import os

NICEST = 19
"""The highest nice value that there is."""
BROKER_NICE = 9
"""Of a broker that was started by who works at this machine: behind the window, before the jobs."""


def session_gives_way(pid: int, nice: int) -> None:
    """Let the whole session of a process yield the processor to other sessions, as `nice` says.

    Where the kernel shares processors between sessions, only this counts. It takes ten a second from others
    than root; kernels that do not share so have no such file, and then nothing is changed.
    """
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as file:
        file.write(str(nice))


def group_gives_way(pid: int, nice: int) -> None:
    """Let a process that leads its session, and all that it will start, yield the processor to other work."""
    with contextlib.suppress(OSError):  # it may be over already
        os.setpriority(os.PRIO_PGRP, pid, nice)
    session_gives_way(pid, nice)
