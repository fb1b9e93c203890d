"""When this machine has no process or thread left to give: said in words instead of a traceback."""

from __future__ import annotations

from broker_core.errors import CrossDeskError


class NoProcessLeft(CrossDeskError):
    """The machine, or the user's limit of processes, allows no further process or thread."""

    code = "no_process_left"
    status = 503


def shortage(error: BaseException) -> NoProcessLeft | None:
    """The error to show where `error` comes of a full process table, else None."""
    full = isinstance(error, BlockingIOError) or (
        isinstance(error, RuntimeError) and str(error).startswith("can't start new thread")
    )
    if not full:
        return None
    return NoProcessLeft(
        "This machine lets you start no further process or thread.",
        remedy="End programs that you do not need, or ask for a higher limit (`ulimit -u` shows it).",
    )
