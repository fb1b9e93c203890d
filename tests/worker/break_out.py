"""Runs inside a box, by a plain Python: tries to get out, and prints what came of each try as JSON.

`break_out.py NEIGHBOR KEY PID [PID ...]`: the other slot, a file outside of both, processes outside.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

LIBC = ctypes.CDLL(None, use_errno=True)
Attempt = Callable[[], object]


def main() -> None:
    neighbor, key, *pids = sys.argv[1:]
    of_processes = (one for pid in map(int, pids) for one in processes(pid))
    attempts = dict([*files(neighbor, key), *of_processes])
    print(json.dumps({name: outcome(attempt) for name, attempt in attempts.items()}))


def outcome(attempt: Attempt) -> str:
    """`done`, or why it was not."""
    try:
        found = attempt()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"refused: {error}"
    return "done" if found is None else f"done: {found!r}"


def files(neighbor: str, key: str) -> Iterator[tuple[str, Attempt]]:
    secret = f"{neighbor}/secret"
    yield "read the neighbor's file", lambda: read(secret)
    yield "read it by a way up", lambda: read("../../b/job/secret")
    yield "list the neighbor's directory", lambda: os.listdir(neighbor)
    yield "write into it", lambda: write(f"{neighbor}/new")
    yield "overwrite the file", lambda: write(secret)
    yield "cut the file", lambda: os.truncate(secret, 0)
    yield "remove the file", lambda: os.unlink(secret)
    yield "take the file away", lambda: os.rename(secret, "taken")
    yield "link to the file", lambda: (os.link(secret, "hard"), read("hard"))
    yield "name the file by a link", lambda: (os.symlink(secret, "soft"), read("soft"))
    yield "read by a child", lambda: child("cat", secret)
    yield "read by a child in a session of its own", lambda: child("setsid", "-w", "cat", secret)
    yield "write by a shell", lambda: child("sh", "-c", f"echo x >'{neighbor}/new'")
    yield "read what its starter is told", lambda: read(f"{neighbor}/../order")
    yield "read what neither slot has", lambda: read(key)
    yield "leave and read", lambda: (os.chdir("../.."), read("b/job/secret"))


def processes(pid: int) -> Iterator[tuple[str, Attempt]]:
    yield f"end {pid}", lambda: os.kill(pid, signal.SIGKILL)
    yield f"end the group of {pid}", lambda: os.killpg(pid, signal.SIGKILL)
    yield f"end {pid} by a child", lambda: child("sh", "-c", f"kill -9 {pid}")
    yield f"end {pid} by its thread", lambda: called(LIBC.syscall(200, pid, signal.SIGKILL))
    yield f"end {pid} by a descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL)
    yield f"trace {pid}", lambda: called(LIBC.ptrace(16, pid, None, None))
    yield f"starve {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))
    yield f"slow {pid}", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)
    yield f"bind {pid}", lambda: os.sched_setaffinity(pid, {0})
    yield f"see the environment of {pid}", lambda: read(f"/proc/{pid}/environ")
    yield f"go through the root of {pid}", lambda: os.listdir(f"/proc/{pid}/root/tmp")
    yield f"go through the directory of {pid}", lambda: read(f"/proc/{pid}/cwd/secret")
    yield f"write its memory {pid}", lambda: write(f"/proc/{pid}/mem")
    yield f"choose {pid} for the next lack of memory", lambda: write(f"/proc/{pid}/oom_score_adj")


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write("1")


def child(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def called(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main()
