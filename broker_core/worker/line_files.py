"""What broker and plain agent of an interactive job have in common: files and words (CB-BYP)."""

from __future__ import annotations

FOLDER = "lines"
"""Beside the job's directory: what broker and agent have in common."""
INPUT, CONTROL, HEARD = "input", "control", "heard"
"""Files there: what was typed, what else the desk wishes, the sign that a desk is there."""

SIGNALS = frozenset({"INT", "TERM", "KILL", "HUP", "QUIT", "USR1", "USR2", "STOP", "CONT"})
"""What a desk may send."""


def end_line(place: int) -> bytes:
    """Tells that no input follows `place`."""
    return f"end {place}\n".encode()


def signal_line(name: str) -> bytes:
    """Tells to send a signal; raises ValueError for what is no name of one."""
    if name not in SIGNALS:
        raise ValueError(f"there is no signal {name[:40]!r}")
    return f"{name}\n".encode()
