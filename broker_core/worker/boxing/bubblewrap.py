"""A box by bubblewrap, which needs no rights where the system lets accounts make user namespaces."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from broker_core.worker.boxing.kinds import Box

TRIAL = 10.0
"""Seconds after which the trial of a box is given up."""


def command_in_box(box: Box, command: Sequence[str]) -> list[str]:
    """The words that run a command in a box. Its exit code is passed on, a signal as 128 and its number.

    It has its own /tmp, in memory, and the network of the node. It dies with whoever started it.
    """
    words = ["bwrap", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try"]
    words += ["--die-with-parent", "--cap-drop", "ALL", "--dev", "/dev", "--proc", "/proc"]
    words += ["--tmpfs", "/tmp"]  # noqa: S108 - its own, in its namespace
    for path in box.read_only():
        words += ["--ro-bind", str(path), str(path)]
    directory = str(box.directory)
    return [*words, "--bind", directory, directory, "--chdir", directory, "--", *command]


def trouble(box: Box) -> str:
    """Why no such box can be made here, in words; empty: one can, as a trial showed."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    try:
        done = subprocess.run(
            command_in_box(box, ["true"]), capture_output=True, check=False, timeout=TRIAL, text=True
        )
    except subprocess.TimeoutExpired:
        return f"bubblewrap did not start within {TRIAL:g} s"
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"bubblewrap ended with {done.returncode}"
