"""The records that an attempt leaves of its start and end (CB-JS-06)."""

from __future__ import annotations

import glob
import os
import resource
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

TYPE_CHECKING = False
"""As of `typing`, which takes longer to import than many jobs run."""
if TYPE_CHECKING:
    from typing import Any

Order = dict[str, "Any"]
_OWN_FILES = tuple(
    f".crossdesk-{name}"
    for name in ("services", "parameters", "parameters.part", "parameters.used", "parameters.used.new")
)
_PUBLISHED, _MOST_PUBLISHED = ".crossdesk-data", 1 << 30
_USE, _MOST_USE = ".crossdesk-use", 524_288
_SHELL = "/bin/sh"
FIRST_SIGNAL = 128
"""Exit status of a program that was ended by a signal, less its number."""
LATE = "wall-limit"
"""Kind of failure of a program that was ended at its wall limit."""
_BLOCK = 1024
_SMALL = 1 << 16
_OUT_OF_MEMORY = 'set -f; . "$1"; __find_spent; __find_kernel_kill; printf "%s\\n" "$__spent" "$__because"'


def start_text(pid: int, moment: int | str = "") -> str:
    """The record of a start. `moment`: seconds since 1970, where somebody elsewhere reads it."""
    about = f"pid {pid}\nstarter {os.getpid()}\n"
    return f"{about}uptime {uptime()}\ntime {moment}\nnode {os.uname().nodename}\n.\n"


class EndOfProgram:
    """How it ended: exit status or `-`, kind of failure or `-`, and why, escaped."""

    def __init__(
        self, status: int | str, kind: str, reason: str, usage: resource.struct_rusage | None = None
    ) -> None:
        self.status, self.kind, self.reason, self.usage = status, kind, reason, usage
        self.more = ""
        """Lines on top."""

    def text(self, missing: Iterable[str], moment: int | str = "") -> str:
        """The record of it (CB-JS-06). `missing`: outputs, escaped; `moment`: as of `start_text`."""
        times, more = "0m0s 0m0s", self.more
        if self.usage is not None:
            peak = _peak(self.usage)
            more += f"memory {peak}\n" if peak else ""
            times = f"0m{self.usage.ru_utime:.6f}s 0m{self.usage.ru_stime:.6f}s"
        return (
            f"exit {self.status}\nfailure {self.kind}\nuptime {uptime()}\ntime {moment}\n"
            f"missing {','.join(missing)}\nreason {self.reason}\n{more}times\n0m0s 0m0s\n{times}\n.\n"
        )


def clear_up(order: Order) -> list[str]:
    """Take away what is the desk's, from the job's directory, which is the current one.

    Returns outputs that are missing, escaped.
    """
    for name in _OWN_FILES:
        with suppress(OSError):  # it is none, or the program made a folder of it
            os.unlink(name)
    if order["outputs"]:
        with suppress(OSError):  # its mode forbids it
            limit_published()
    return [encoded for name, encoded in order["outputs"] if not produced(name)]


def late_reason(order: Order) -> str:
    """Why a program was ended at its wall limit, escaped."""
    seconds = f"{order['wall_limit']:.3f}".rstrip("0").rstrip(".")
    return escaped(f"The wall-time limit of {seconds} seconds was reached.")


def _peak(usage: resource.struct_rusage) -> int:
    """Most KiB in memory at one look; 0 if that is not known."""
    samples = [0]
    with suppress(OSError):  # the program may have changed the mode of the file
        samples = sampled_memory()
    # A program has our own peak until it begins.
    begins = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return max(usage.ru_maxrss if usage.ru_maxrss > begins else 0, *samples)


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
    full = status == FIRST_SIGNAL + signal.SIGXFSZ
    if limit != resource.RLIM_INFINITY and (full or any(size >= limit for size in _sizes())):
        return "output-limit", escaped(f"A file reached the limit of {limit // _BLOCK} KiB.")
    if status == FIRST_SIGNAL + signal.SIGKILL:
        return spent(order, status)
    return "-", ""


def spent(order: Order, status: int) -> tuple[str, str]:
    """Kind and reason, escaped, where the kernel or the batch system says that a program ran out of memory
    or time; else `-`."""
    if not os.access(order["use"], os.R_OK):
        return "-", ""
    known = {"__status": str(status), "__here": order["directory"], "__terminated": "", "PATH": os.defpath}
    import subprocess  # it takes as long to import as to start the shell

    words = [_SHELL, "-c", _OUT_OF_MEMORY, "sh", order["use"]]
    found = subprocess.run(words, env=known, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    kind, _, because = found.stdout.decode("utf-8", "replace").partition("\n")
    names = {"memory": "out-of-memory", "time": LATE}
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


def write(path: str, text: str) -> None:
    """Make a file; raises OSError."""
    # A file object asks the kernel three more times, which counts where a program takes a millisecond.
    put(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666), text)


def read(path: str) -> bytes:
    """What a small file holds; raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.read(file, _SMALL)
        while part := os.read(file, _SMALL) if found else b"":
            found += part
    finally:
        os.close(file)
    return found


def put(file: int, text: str) -> None:
    """Write into an open file and close it; raises OSError."""
    try:
        rest = text.encode("utf-8", "surrogateescape")
        while rest:
            rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)


def uptime() -> str:
    """Seconds since the machine started, as the kernel writes them into `/proc/uptime`."""
    hundredths = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 10_000_000
    return f"{hundredths // 100}.{hundredths % 100:02d}"
