"""Times, durations and states in words."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.text import Text

from broker_core.jobs.batch_names import job_name
from broker_core.jobs.outcome import Outcome, brief_cause, ended_by, outcome_of

_SIGNS = {
    Outcome.SUBMITTED: ("◌", "s", "cyan"),
    Outcome.WAITING: ("◔", "w", "yellow"),
    Outcome.READY: ("◑", "r", "blue"),
    Outcome.SCHEDULED: ("◕", "q", "blue"),
    Outcome.RUNNING: ("▶", ">", "bold magenta"),
    Outcome.FAILED: ("✖", "x", "bold red"),
    Outcome.DONE: ("✔", "+", "green"),
    Outcome.CANCELED: ("⊘", "-", "dim"),
    Outcome.UNKNOWN: ("?", "?", "dim"),
}
_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"), (float("inf"), 86400, "d"))


def standing(row: dict[str, Any], *, cause: bool = False) -> Text:
    """How a job stands, with its sign and colour; `cause`: also why it failed, e.g. `Failed, exit 7`."""
    outcome = outcome_of(row["state"], row["exit_code"])
    why = brief_cause(row["state"], row["exit_code"], row["signal"], row["reason"]) if cause else ""
    return _signed(outcome, f"{outcome.value}, {why}" if why else outcome.value)


def name(row: dict[str, Any]) -> str:
    """The name of a job, with its value where its name does not tell that: `scan (35)`."""
    return job_name(row["name"], row["parameter"])


def state(name: str, exit_code: int | None = None) -> Text:
    """A state by its own name, for the story of a job, with sign and colour of what it comes to."""
    return _signed(outcome_of(name, exit_code), name)


def _signed(outcome: Outcome, text: str) -> Text:
    sign, plain, style = _SIGNS[outcome]
    return Text(f"{sign if has_unicode() else plain} {text}", style=style)


def has_unicode() -> bool:
    """True if the output can show signs beyond ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def blocks() -> str:
    """Nine signs for 0 to 8 eighths of a cell."""
    return " ▁▂▃▄▅▆▇█" if has_unicode() else "    .::##"


def ago(when: float | None) -> str:
    """A moment relative to now; empty if there was none."""
    if when is None or not when:
        return ""
    passed = time.time() - when
    return "just now" if abs(passed) < 2 else f"{duration(passed)} ago"


def duration(seconds: float | None) -> str:
    """A length of time with the precision that its size deserves."""
    if seconds is None:
        return ""
    if seconds < 0:
        return "0 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    for limit, unit, name in _STEPS:
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    raise AssertionError("the last step has no limit")


def until(when: float) -> str:
    """When something is tried again, relative to now."""
    left = when - time.time()
    return f"tried again in {duration(left)}" if left > 1 else "tried again now"


def run_time(row: dict[str, Any]) -> str:
    """How long a job runs or ran."""
    if row.get("started") is None:
        return ""
    return duration((row.get("ended") or time.time()) - row["started"])


def exit_code_or_signal(row: dict[str, Any]) -> str:
    """Exit code or signal of the program's end; empty before it."""
    code, signal = ended_by(row["state"], row.get("exit_code"), row.get("signal"), row.get("reason") or "")
    if signal is not None:
        return f"signal {signal}"
    return "" if code is None else str(code)


def clock(when: float) -> str:
    """The time of day of a moment on this machine."""
    return time.strftime("%H:%M:%S", time.localtime(when))


def moment(when: float) -> str:
    """A moment on the clock of this machine, to the millisecond."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when)) + f".{int(when % 1 * 1000):03d}"


def size(count: float) -> str:
    """Bytes in readable units."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
