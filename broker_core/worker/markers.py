"""What a Job Starter leaves behind: the markers `started` and `ended`, read back (CB-JS-06)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from broker_core.worker.encoding import decode

EXITS = {
    220: "download",
    221: "executable-missing",
    222: "agent",
    223: "upload",
    224: "wall-limit",
    225: "output-limit",
    226: "refused-second-start",
    227: "starter",
}
"""The starter's own exit status to the kind of failure."""
ABOVE = 199
"""The starter's exit status for a program's own above 125; the marker has the true one."""
_MOST_SIGNAL = 64
_TIME = re.compile(r"(\d+)m([\d.]+)s")


@dataclass(frozen=True, slots=True)
class StartedMark:
    """The program was started; times in seconds."""

    time: float
    """Since the epoch."""
    pid: int
    uptime: float | None
    """Since the node's boot."""


@dataclass(frozen=True, slots=True)
class EndedMark:
    """How it ended."""

    time: float
    exit_code: int | None
    signal: int | None
    failure: str
    reason: str
    missing: tuple[str, ...]
    """Output names and wildcards that matched no file."""
    cpu_s: float
    uptime: float | None


def read_started(directory: Path | str) -> StartedMark | None:
    """The start of an attempt, if it has started."""
    found = _lines(f"{directory}/started")
    if found is None:
        return None
    values, time = found
    return StartedMark(time, int(values.get("pid", "0")), _number(values.get("uptime", "")))


def read_ended(directory: Path | str) -> EndedMark | None:
    """The end of an attempt, if the starter recorded one."""
    found = _lines(f"{directory}/ended")
    if found is None:
        return None
    values, time = found
    code, signal = status_of(values["exit"])
    failure = values["failure"]
    missing = values.get("missing", "")
    return EndedMark(
        time=time,
        exit_code=code,
        signal=signal,
        failure="" if failure == "-" else failure,
        reason=decode(values.get("reason", "")),
        missing=tuple(decode(item) for item in missing.split(",") if item),
        cpu_s=_cpu(values.get("times", "")),
        uptime=_number(values.get("uptime", "")),
    )


def status_of(text: str) -> tuple[int | None, int | None]:
    """Exit code and signal of a shell's `$?`: 128+N is taken for signal N where there is such a signal."""
    if text == "-":
        return None, None
    status = int(text)
    signal = status - 128
    return (None, signal) if 0 < signal <= _MOST_SIGNAL else (status, None)


def _lines(path: str) -> tuple[dict[str, str], float] | None:
    """Words of a whole marker by their first word, and when it was written; None if it is not whole."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text, time = file.read(), os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return None
    if not text.endswith("\n.\n"):
        return None
    head, _, times = text.partition("\ntimes\n")
    values = dict(line.partition(" ")[::2] for line in head.split("\n"))
    return values | {"times": times}, time


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _cpu(times: str) -> float:
    """User and system seconds of the children, the second line of the shell's `times`."""
    lines = times.split("\n")
    return sum(int(m) * 60 + float(s) for m, s in _TIME.findall(lines[1])) if len(lines) > 1 else 0.0
