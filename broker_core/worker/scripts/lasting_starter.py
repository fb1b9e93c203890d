"""A Job Starter that lasts: runs plain programs one after the other, without a shell for each (CB-JS-01, 06).

It is given orders as lines of JSON on a socket, its standard input and output, by the broker of this machine,
and leaves the same records as `job_starter.sh` in the directory of each attempt. What cannot be started it
declines before anything ran, and then `job_starter.sh` does it and says why. When the broker is gone it ends
with the program that it has.

Answers are lines of a word and the tag of the attempt: `started`, `ended`, `refused` (the attempt was started
before), `declined`. Its claim on an attempt is a link, made in one step, that names it:
`lasting.PID.STARTED`, with when the process was started.

It needs nothing but Python's own library, as it is started without any other.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time

from broker_core.worker.scripts.plain.programs import end_all, find_program, redirections, spawn
from broker_core.worker.scripts.plain.records import (
    FIRST_SIGNAL,
    LATE,
    EndOfProgram,
    Order,
    clear_up,
    failure,
    late_reason,
    put,
    start_text,
    write,
)

_DAY = 86_400.0


def main(most: int) -> None:
    """Carry out orders until there are no more. `most`: bytes that one file may have; 0: no limit."""
    os.umask(0o077)
    if most:
        # What is begun here inherits it; a program could not be stopped before it had one of its own.
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    name = f"lasting.{os.getpid()}.{started_at(os.getpid())}"
    with open(0, "rb") as orders:
        for line in orders:
            if not line.endswith(b"\n"):
                return  # the broker is gone with the rest of it
            order = json.loads(line)
            _answer(_carry_out(order, name), order)


def started_at(pid: int) -> str:
    """When a process that runs was started: with its pid a name for good. The id of the machine's start, and
    ticks since then; empty if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file, open("/proc/sys/kernel/random/boot_id") as boot:
            fields, start = file.read().rpartition(b") ")[2].split(), boot.read().strip()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else f"{start} {fields[19].decode()}"


def _answer(word: str, order: Order) -> bool:
    """False if nobody listens: the broker is gone, and the next one reads the records."""
    try:
        os.write(1, f"{word} {order['tag']}\n".encode())
    except OSError:
        return False
    return True


def _notify(order: Order, pid: int) -> None:
    """Tell of the start as `job_starter.sh` does, for the next broker."""
    try:
        pipe = os.open(order["notice"], os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return  # it is not there yet, and will read the record
    try:
        os.write(pipe, f"{order['tag']} {pid}\n".encode())
    except OSError:
        pass  # it is full, which means that it is about to be read
    finally:
        os.close(pipe)


def _carry_out(order: Order, name: str) -> str:
    """Run one attempt; returns the answer."""
    claim = f"{order['directory']}/claim"
    try:
        os.symlink(name, claim)
    except FileExistsError:
        return "refused"
    except OSError:
        return "declined"
    try:
        pid = _start(order)
    except OSError:
        os.unlink(claim)
        os.chdir("/")
        return "declined"
    _record_start(order, pid)
    if not _answer("started", order):
        _notify(order, pid)
    late = order["wall_limit"] is not None and not _ends_within(pid, order["wall_limit"])
    if late:
        end_all(order["tag"], order["kill_grace"])
    _, status, usage = os.wait4(pid, 0)
    try:
        _record_end(order, os.waitstatus_to_exitcode(status), usage, late=late)
    except OSError:
        pass  # the disk is full, or the attempt was removed: the broker says so
    os.chdir("/")
    return "ended"


def _start(order: Order) -> int:
    """Start the program; its pid. Raises OSError for all that `job_starter.sh` has words for."""
    os.chdir(f"{order['directory']}/job")
    program = find_program(order["program"], order["environment"].get("PATH", os.defpath))
    actions = redirections(order)
    if os.path.exists(f"{order['directory']}/cancel"):
        raise FileNotFoundError
    pid = spawn(program, [order["program"], *order["arguments"]], order["environment"], actions)
    if order["nice"]:
        try:
            put(os.open(f"/proc/{pid}/autogroup", os.O_WRONLY | os.O_CLOEXEC), str(order["nice"]))
        except OSError:
            pass  # it is over already, or the kernel does not share processors between sessions
    return pid


def _record_start(order: Order, pid: int) -> None:
    try:
        write(f"{order['directory']}/started", start_text(pid))
    except OSError:
        pass  # as for `job_starter.sh`, the end tells all that counts


def _ends_within(pid: int, seconds: float) -> bool:
    """Wait for the end of the program for so long."""
    deadline = time.monotonic() + seconds
    number = os.pidfd_open(pid)
    try:
        while (left := deadline - time.monotonic()) > 0:
            if select.select([number], [], [], min(left, _DAY))[0]:
                return True
    finally:
        os.close(number)
    return False


def _record_end(order: Order, code: int, usage: resource.struct_rusage, *, late: bool) -> None:
    """Write the record of the end; raises OSError."""
    missing = clear_up(order)
    status = FIRST_SIGNAL - code if code < 0 else code
    kind, reason = failure(order, status) if status else ("-", "")
    if late:
        kind, reason = LATE, late_reason(order)
    end = EndOfProgram(status, kind, reason, usage)
    end.more = "itself 1\n" if code > FIRST_SIGNAL else ""
    write(f"{order['directory']}/ended", end.text(missing))
