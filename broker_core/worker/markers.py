"""What a Job Starter leaves behind: the markers `started` and `ended`, read back (CB-JS-06)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
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
    228: "no-desk",
    229: "software",
    230: "out-of-memory",
}
"""The starter's own exit status to the kind of failure."""
ABOVE = 199
"""The starter's exit status for a program's own above 125; the marker has the true one."""
_MOST_SIGNAL, _MOST_STATUS = 64, 255
_MOST_DIGITS = 12
"""Of the KiB of memory that are believed."""
_TIME = re.compile(r"(\d+)m([\d.]+)s")


@dataclass(frozen=True, slots=True)
class StartedMark:
    """The program was started; times in seconds."""

    time: float
    """Since the epoch."""
    pid: int
    uptime: float | None
    """Since the node's boot."""
    node: str = ""
    """Host name; only where the broker looks in from afar."""


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
    memory: int | None = None
    """Most bytes in main memory at one look; None: nobody looked."""
    terminated: bool = False
    """The starter was asked to end from outside while the program ran, as batch systems do."""


def read_started(directory: Path | str) -> StartedMark | None:
    """The start of an attempt, if it has started."""
    found = _file(f"{directory}/started")
    return found and started_mark(*found)


def read_ended(directory: Path | str) -> EndedMark | None:
    """The end of an attempt, if the starter recorded one."""
    found = _file(f"{directory}/ended")
    return found and ended_mark(*found)


def started_mark(raw: bytes, time: float) -> StartedMark | None:
    """The marker `started`; None if it is not whole, or none at all, as a job can write there too.

    `time`: when it was written, unless it tells.
    """
    values = _values(raw)
    if values is None:
        return None
    uptime = _number(values.get("uptime", ""))
    moment = _number(values.get("time", "")) or time
    return StartedMark(moment, int(_number(values.get("pid", "")) or 0), uptime, values.get("node", ""))


def ended_mark(raw: bytes, time: float) -> EndedMark | None:
    """The marker `ended`; None if it is not whole, or none. `time`: when it was written, unless it tells."""
    values = _values(raw)
    try:
        return None if values is None else _ended(values, time)
    except (KeyError, ValueError, OverflowError):
        return None


def _ended(values: Mapping[str, str], time: float) -> EndedMark:
    """Raises KeyError and ValueError for what no Job Starter wrote."""
    code, signal = status_of(values["exit"])
    if "itself" in values and signal is not None:
        code, signal = signal + 128, None
    failure = values["failure"]
    missing = values.get("missing", "")
    return EndedMark(
        time=_number(values.get("time", "")) or time,
        exit_code=code,
        signal=signal,
        failure="" if failure == "-" else failure,
        reason=decode(values.get("reason", "")),
        missing=tuple(decode(item) for item in missing.split(",") if item),
        cpu_s=_cpu(values.get("times", "")) + (_number(values.get("cpu", "")) or 0.0),
        uptime=_number(values.get("uptime", "")),
        memory=_bytes(values.get("memory", "")),
        terminated="terminated" in values,
    )


def status_of(text: str) -> tuple[int | None, int | None]:
    """Exit code and signal of a shell's `$?`: 128+N is taken for signal N where there is such a signal.

    The marker says where the starter knows better.

    Raises ValueError for what is no `$?`.
    """
    if text == "-":
        return None, None
    status = int(text)
    if not 0 <= status <= _MOST_STATUS:
        raise ValueError(f"{text[:20]} is no exit status")
    signal = status - 128
    return (None, signal) if 0 < signal <= _MOST_SIGNAL else (status, None)


def _file(path: str) -> tuple[bytes, float] | None:
    """Content and time of a marker that is there."""
    try:
        with open(path, "rb") as file:
            return file.read(), os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return None


def _values(raw: bytes) -> dict[str, str] | None:
    """Words of a whole marker by their first word; None if it is not whole."""
    text = raw.decode("utf-8", "surrogateescape")
    if not text.endswith("\n.\n"):
        return None
    head, _, times = text.partition("\ntimes\n")
    return dict(line.partition(" ")[::2] for line in head.split("\n")) | {"times": times}


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _bytes(kib: str) -> int | None:
    return int(kib) * 1024 if kib.isascii() and kib.isdigit() and len(kib) <= _MOST_DIGITS else None


def _cpu(times: str) -> float:
    """User and system seconds of the children, the second line of the shell's `times`."""
    lines = times.split("\n")
    return sum(int(m) * 60 + float(s) for m, s in _TIME.findall(lines[1])) if len(lines) > 1 else 0.0
