"""Exit codes of the command line."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the shell gets."""

    OK = 0
    ERROR = 1
    USAGE = 2
    JOB_FAILED = 3
    """A job that was waited for ended otherwise than Done with exit code 0."""
    TIMED_OUT = 124
    INTERRUPTED = 130


class TimedOut(Exception):
    """The time given by `--timeout` is over."""
