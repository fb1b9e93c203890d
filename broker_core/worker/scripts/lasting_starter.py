"""A Job Starter that lasts: runs plain programs one after the other, without a shell for each (CB-JS-01, 06).

It is given orders as lines of JSON on a socket, its standard input and output, by the broker of this machine,
and leaves the same records as `job_starter.sh` in the directory of each attempt. What cannot be started it
declines before anything ran, and then `job_starter.sh` does it and says why. When the broker is gone it ends
with the program that it has.

Answers are lines of a word and the tag of the attempt: `started`, `ended`, `refused` (the attempt was started
before), `declined`. Its claim on an attempt is a link, made in one step, that names it:
`lasting.PID.STARTED`, with when the process was started.

Runs by itself with Python's own library, as it is started without any other.
"""

from __future__ import annotations

import errno
import functools
import glob
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

Order = dict[str, Any]
_RESET = (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)
OWN_FILES = tuple(
    f".crossdesk-{name}"
    for name in ("services", "parameters", "parameters.part", "parameters.used", "parameters.used.new")
)
_PUBLISHED, _MOST_PUBLISHED = ".crossdesk-data", 1 << 30
_USE, _MOST_USE = ".crossdesk-use", 524_288
_MARK = "CROSSDESK_ATTEMPT"
_DAY, _STEP = 86_400.0, 0.05
_SHELL = "/bin/sh"
_FIRST_SIGNAL = 128
_BLOCK = 1024
_OUT_OF_MEMORY = 'set -f; . "$1"; __find_spent; __find_kernel_kill; printf "%s\\n" "$__spent" "$__because"'


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
            with open(f"/proc/{pid}/autogroup", "w") as file:
                file.write(str(order["nice"]))
        except OSError:
            pass  # it is over already, or the kernel does not share processors between sessions
    return pid


def redirections(order: Order) -> list[tuple[Any, ...]]:
    """Where standard input, output and error of a program lead, in its directory; raises OSError."""
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, readable(order["stdin"]), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, made(order["stdout"]), os.O_WRONLY | os.O_APPEND, 0),
    ]
    if order["stderr"] == order["stdout"]:
        actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
    else:
        actions.append((os.POSIX_SPAWN_OPEN, 2, made(order["stderr"]), os.O_WRONLY | os.O_APPEND, 0))
    return actions


def spawn(
    program: str,
    words: list[str],
    known: dict[str, str],
    actions: list[tuple[Any, ...]],
    reset: Iterable[int] = _RESET,
) -> int:
    """Start a program in a session of its own; a script that names no interpreter is the shell's.

    `reset`: signals that it does not ignore though this process does.
    """
    begin = functools.partial(
        os.posix_spawn, file_actions=actions, setsid=True, setsigmask=[], setsigdef=reset
    )
    try:
        return begin(program, words, known)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    return begin(_SHELL, [_SHELL, program, *words[1:]], known)


def find_program(name: str, path: str) -> str:
    """Path of a program: in the job's directory, absolute, or looked up. Raises FileNotFoundError."""
    paths = [name] if "/" in name else [f"{folder}/{name}" for folder in path.split(":") if folder]
    for one in paths:
        if os.path.isfile(one) and os.access(one, os.X_OK):
            return one
    raise FileNotFoundError(name)


def readable(name: str) -> str:
    """Name of an input file, or of none; raises FileNotFoundError."""
    if name and not os.access(name, os.R_OK):
        raise FileNotFoundError(name)
    return name or os.devnull


def made(name: str) -> str:
    """An output file, empty; folders on the way too."""
    if "/" in name:
        os.makedirs(os.path.dirname(name), exist_ok=True)
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    return name


def _record_start(order: Order, pid: int) -> None:
    about = f"pid {pid}\nstarter {os.getpid()}\n"
    try:
        about += f"uptime {uptime()}\ntime \nnode {os.uname().nodename}\n.\n"
        with open(f"{order['directory']}/started", "w") as file:
            file.write(about)
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


def end_all(tag: str, grace: float) -> None:
    """Ask all processes of the attempt to end, and kill what is left after `grace` seconds."""
    deadline = time.monotonic() + grace
    _send(tag, signal.SIGTERM)
    while _send(tag, 0) and time.monotonic() < deadline:
        select.select([], [], [], _STEP)
    while _send(tag, signal.SIGKILL):
        select.select([], [], [], _STEP)


def _send(tag: str, number: int) -> bool:
    """Send a signal to all processes that carry the mark; False if there are none."""
    mark, found = f"{_MARK}={tag}".encode(), False
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    os.kill(int(name), number)
                    found = True
        except OSError:
            continue  # it is gone, or another's
    return found


def _record_end(order: Order, code: int, usage: resource.struct_rusage, *, late: bool) -> None:
    """Write the record of the end; raises OSError."""
    if order["outputs"]:
        limit_published()
    missing = [encoded for name, encoded in order["outputs"] if not produced(name)]
    for name in OWN_FILES:
        if os.path.exists(name):
            os.unlink(name)
    status = _FIRST_SIGNAL - code if code < 0 else code
    kind, reason = failure(order, status) if status else ("-", "")
    if late:
        seconds = f"{order['wall_limit']:.3f}".rstrip("0").rstrip(".")
        kind, reason = "wall-limit", escaped(f"The wall-time limit of {seconds} seconds was reached.")
    more = "itself 1\n" if code > _FIRST_SIGNAL else ""
    # A program has our own peak until it begins.
    begins = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if peak := max(usage.ru_maxrss if usage.ru_maxrss > begins else 0, *sampled_memory()):
        more += f"memory {peak}\n"
    text = (
        f"exit {status}\nfailure {kind}\nuptime {uptime()}\ntime \nmissing {','.join(missing)}\n"
        f"reason {reason}\n{more}times\n0m0s 0m0s\n0m{usage.ru_utime:.6f}s 0m{usage.ru_stime:.6f}s\n.\n"
    )
    with open(f"{order['directory']}/ended", "w") as file:
        file.write(text)


def produced(name: str) -> bool:
    """True if an output is there: a file, a folder with files, or files that a wildcard stands for."""
    if os.path.isfile(name):
        return True
    if os.path.isdir(name) and not os.path.islink(name.rstrip("/")):
        return any(files for _, _, files in os.walk(name))
    return any(os.path.isfile(one) for one in glob.iglob(name))


def limit_published() -> None:
    """What was published beyond 1 GiB does not come home."""
    if os.path.islink(_PUBLISHED) or not os.path.isfile(_PUBLISHED):
        return
    if os.path.getsize(_PUBLISHED) > _MOST_PUBLISHED:
        os.truncate(_PUBLISHED, _MOST_PUBLISHED)


def sampled_memory() -> list[int]:
    """KiB in memory at each look at the job, and 0. The program can write there."""
    found = [0]
    if os.path.isfile(_USE) and not os.path.islink(_USE):
        with open(_USE, "rb") as file:
            words = [line.split() for line in file.read(_MOST_USE).splitlines()]
        found += [int(one[2]) for one in words if len(one) > 2 and one[2].isdigit() and len(one[2]) < 16]
    return found


def failure(order: Order, status: int) -> tuple[str, str]:
    """Kind and reason, escaped, of what befell a program that did not end well."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    full = status == _FIRST_SIGNAL + signal.SIGXFSZ
    if limit != resource.RLIM_INFINITY and (full or any(size >= limit for size in _sizes())):
        return "output-limit", escaped(f"A file reached the limit of {limit // _BLOCK} KiB.")
    if status == _FIRST_SIGNAL + signal.SIGKILL:
        return spent(order, status)
    return "-", ""


def spent(order: Order, status: int) -> tuple[str, str]:
    """Kind and reason, escaped, where the kernel or the batch system says that a program ran out of memory
    or time; else `-`."""
    if not os.access(order["use"], os.R_OK):
        return "-", ""
    known = {"__status": str(status), "__here": order["directory"], "__terminated": "", "PATH": os.defpath}
    words = [_SHELL, "-c", _OUT_OF_MEMORY, "sh", order["use"]]
    found = subprocess.run(words, env=known, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    kind, _, because = found.stdout.decode("utf-8", "replace").partition("\n")
    names = {"memory": "out-of-memory", "time": "wall-limit"}
    return (names[kind], escaped(because.strip())) if kind in names else ("-", "")


def _sizes() -> Iterator[int]:
    """Of all files of the job."""
    for folder, _, names in os.walk("."):
        for name in names:
            try:
                yield os.lstat(f"{folder}/{name}").st_size
            except OSError:
                continue


def escaped(text: str) -> str:
    """As all values are that hold blanks."""
    letters = (chr(one) for one in text.encode())
    return "".join(one if one.isascii() and one.isalnum() else f"\\0{ord(one):03o}" for one in letters)


def uptime() -> str:
    """Seconds since the machine started, as the kernel writes them."""
    with open("/proc/uptime") as file:
        return file.read().split()[0]


if __name__ == "__main__":
    main(int(sys.argv[1]))
