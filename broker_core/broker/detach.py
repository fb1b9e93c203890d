"""Going into the background: the first process returns when the broker answers, or could not start."""

from __future__ import annotations

import os
import select
import socket
import time

from broker_core.broker.places import Places

READY_WITHIN = 60.0
"""Seconds that a starting broker may take."""
_STEP = 0.02


def detach(where: Places) -> int | None:
    """Fork; None in the new background process, the exit code in the first one.

    Called before any thread or event loop exists. What the broker says on standard error while it starts
    goes through to the caller.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        _no_terminal()
        return None
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) or 1
        if _answers(where):
            return 0
        select.select([], [], [], _STEP)
    return 1


def _answers(where: Places) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(where.socket))
        except OSError:
            return False
    return True


def _no_terminal() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.chdir("/")
