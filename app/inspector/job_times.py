"""Times and ends of jobs in words, as every pane of the inspector says them."""

from __future__ import annotations

import signal
import time
from typing import Any

from app.units import ago, clock, count, duration, since, size
from broker_core.jobs.outcome import ended_by

__all__ = ["ago", "clock", "count", "duration", "end_words", "exact", "since", "size"]


def exact(moment: float) -> str:
    """Say a moment to the millisecond, in local time with its zone."""
    local = time.localtime(moment)
    millis = int(moment % 1 * 1000)
    return time.strftime("%Y-%m-%d %H:%M:%S", local) + f".{millis:03d} " + time.strftime("%Z", local)


def end_words(row: dict[str, Any]) -> str:
    """Say how the application ended, or an empty text while it has not."""
    known = row["state"], row.get("exit_code"), row.get("signal")
    code, number = ended_by(*known, row.get("reason") or "")
    if number is not None:
        return _signal_words(number)
    if code is None:
        return ""
    if code == 0:
        return "Ended well (exit 0)"
    if code == 126:
        return "Exit 126: the program could not be executed"
    if code == 127:
        return "Exit 127: the program was not found"
    if 128 < code < 160:
        return f"Exit {code}: by convention, {_signal_words(code - 128).lower()}"
    return f"The application reported a failure (exit {code})"


def _signal_words(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"Killed by signal {number}"
    return f"Killed by {name} ({number}: {(signal.strsignal(number) or 'signal').lower()})"
