"""What an attempt's end is, put together from the starter's marker, its exit status and what the site did."""

from __future__ import annotations

import os
import resource
import signal
import time

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.sites.local.run import LocalRun
from broker_core.sites.local.use import kernel_kills
from broker_core.worker.markers import EXITS, EndedMark, StartedMark, read_ended, read_started, status_of

Usage = resource.struct_rusage | None
"""What a starter and all it waited for used, as of wait4."""
CANCELED = ("killed", "Canceled as its owner asked.")
LOST = ("lost", "The Job Starter was ended from outside; all processes of the job were ended too.")
OUT_OF_MEMORY = ("out-of-memory", "It ran out of memory: the node's kernel ended it.")
_NO_RESULT = ("starter", "The Job Starter could not record the end of the job; its disk may be full.")
_SECOND = ("refused-second-start", "This attempt had been started before; the second start was refused.")


def ended_of(run: LocalRun, status: int | None, usage: Usage, file_limit: int) -> AttemptEnded:
    """The end of `run`. `status`: as of waitpid, None for a starter that is not our child."""
    started = run.started or read_started(run.directory.path)
    mark = read_ended(run.directory.path)
    code, number, failure, reason = outcome_of(mark, status)
    if run.verdict is not None and failure != "wall-limit":
        code, number, (failure, reason) = None, None, run.verdict
    elif not failure and (full := full_output(run, file_limit)):
        failure, reason = "output-limit", full
    elif not failure and number == signal.SIGKILL and kernel_kills() > run.kernel_kills:
        failure, reason = OUT_OF_MEMORY
    return AttemptEnded(
        component=run.order.attempt,
        time=_not_before(mark.time if mark else time.time(), run.begun),
        exit_code=code,
        signal=number,
        failure=failure,
        reason=reason,
        usage=usage_of(started, mark, usage),
        started=_not_before(started.time, run.begun) if started else None,
    )


def full_output(run: LocalRun, file_limit: int) -> str:
    """The reason, if standard output or error has grown to the limit; else empty."""
    limit = run.order.file_limit or file_limit
    for name in {run.order.stdout, run.order.stderr} if limit else ():
        try:
            size = os.lstat(f"{run.directory.job}/{name or '.'}").st_size
        except OSError:
            continue
        if name and size >= limit // 512 * 512:
            return f"{name} reached the limit of {limit:,} bytes; what was written until then is kept."
    return ""


def outcome_of(mark: EndedMark | None, status: int | None) -> tuple[int | None, int | None, str, str]:
    """Exit code, signal, failure and reason, by the marker or else by the starter's exit status."""
    if mark is not None:
        reason = mark.reason
        if mark.missing and not reason:
            reason = "Not produced: " + ", ".join(mark.missing) + "."
        return mark.exit_code, mark.signal, mark.failure, reason
    if status is None or os.WIFSIGNALED(status):
        return None, None, *LOST
    code = os.WEXITSTATUS(status)
    if code in EXITS:
        return (
            None,
            None,
            *(_SECOND if EXITS[code] == "refused-second-start" else (EXITS[code], _NO_RESULT[1])),
        )
    return *status_of(str(code)), "", _NO_RESULT[1]


def usage_of(started: StartedMark | None, mark: EndedMark | None, usage: Usage = None) -> dict[str, float]:
    """What it used, by the markers and by wait4 where it was our child."""
    found: dict[str, float] = {}
    if started and mark:
        found["wall_s"] = _wall(started, mark)
        found["cpu_s"] = mark.cpu_s
    if mark and mark.memory:
        found["max_rss_bytes"] = mark.memory
    if usage is not None:
        found["cpu_s"] = usage.ru_utime + usage.ru_stime
        # A starter inherits our own peak over its exec, so that only a higher one is the job's.
        if usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            found["max_rss_bytes"] = max(found.get("max_rss_bytes", 0), usage.ru_maxrss * 1024)
    return found


def _wall(started: StartedMark, mark: EndedMark) -> float:
    """Seconds by the node's own clock since boot, which no time setting moves."""
    if started.uptime is not None and mark.uptime is not None and mark.uptime >= started.uptime:
        return mark.uptime - started.uptime
    return max(0.0, mark.time - started.time)


def _not_before(moment: float, begun: float) -> float:
    """File times lag a few milliseconds behind the clock; nothing happens before its cause."""
    return max(moment, begun)
