"""Runs in a box of a line, by a plain Python: tries to get out, and prints what came of each try as JSON.

`break_out_of_line.py OTHER`: the directory of an attempt that was there before.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USERS, NEW_MOUNTS = 0x10000000, 0x20000
BIND, REMOUNT, DETACH = 4096, 32, 2
Attempt = Callable[[], object]


def main() -> None:
    other = sys.argv[1]
    found = {name: outcome(attempt) for name, attempt in (*first_process(), *mounts(), *files(other))}
    apart = subprocess.run([sys.executable, __file__, other, "apart"], capture_output=True, check=True)
    print(
        json.dumps({**found, **{f"apart: {name}": text for name, text in json.loads(apart.stdout).items()}})
    )


def apart() -> None:
    """The same as root of a user namespace of its own."""
    account = os.getuid()
    called(LIBC.unshare(NEW_USERS | NEW_MOUNTS))
    # It has all rights in there also where the kernel lets it have no name.
    with suppress(OSError), open("/proc/self/uid_map", "w") as file:
        file.write(f"0 {account} 1")
    attempts = (*first_process(), *mounts(), *files(sys.argv[1]))
    print(json.dumps({name: outcome(attempt) for name, attempt in attempts}))


def outcome(attempt: Attempt) -> str:
    """`done`, or why it was not."""
    try:
        return f"done: {attempt()!r}"
    except OSError as error:
        return f"refused: {error}"


def first_process() -> Iterator[tuple[str, Attempt]]:
    yield "trace", lambda: called(LIBC.ptrace(16, 1, None, None))
    yield "seize", lambda: called(LIBC.ptrace(0x4206, 1, None, None))
    yield "environment", lambda: read("/proc/1/environ")
    yield "map", lambda: read("/proc/1/maps")
    yield "memory", lambda: os.open("/proc/1/mem", os.O_RDWR)
    yield "read its memory", lambda: called(LIBC.process_vm_readv(1, *span(), *span(), 0))
    yield "root", lambda: os.listdir("/proc/1/root/")
    yield "directory", lambda: os.listdir("/proc/1/cwd/")
    yield "program", lambda: os.open("/proc/1/exe", os.O_RDONLY)
    for name in ("mnt", "user", "pid", "ipc"):
        yield f"namespace {name}", lambda name=name: os.open(f"/proc/1/ns/{name}", os.O_RDONLY)  # type: ignore[misc]
    for number in range(16):
        yield f"file {number}", lambda number=number: os.open(f"/proc/1/fd/{number}", os.O_RDONLY)  # type: ignore[misc]
        yield f"take file {number}", lambda number=number: take(number)  # type: ignore[misc]


def mounts() -> Iterator[tuple[str, Attempt]]:
    for at in (b"/proc", b"/dev", b"/dev/shm", b"/tmp", b"/usr", b"/etc", b"/"):
        name = at.decode()
        yield f"uncover {name}", lambda at=at: called(LIBC.umount2(at, DETACH))  # type: ignore[misc]
    for at in (b"/usr", b"/etc", b"/dev"):
        name = at.decode()
        yield f"remount {name}", lambda at=at: called(LIBC.mount(None, at, None, BIND | REMOUNT, None))  # type: ignore[misc]
        yield f"write to {name}", lambda at=at: os.mkdir(at + b"/made")  # type: ignore[misc]
    for at in (b"/dev/null", b"/dev/tty", b"/dev/pts", b"/dev/pts/ptmx"):
        name = at.decode()
        # To the one that it has: where this is possible after all the node is as before.
        yield f"change the mode of {name}", lambda at=at: os.chmod(at, os.stat(at).st_mode & 0o7777)  # type: ignore[misc]
    for name in ("kernel/core_pattern", "vm/swappiness", "kernel/shmmax"):
        yield f"set {name}", lambda name=name: os.open(f"/proc/sys/{name}", os.O_WRONLY)  # type: ignore[misc]
    yield "see all processes", lambda: called(LIBC.mount(b"proc", b"/tmp", b"proc", 0, None))


def files(other: str) -> Iterator[tuple[str, Attempt]]:
    yield "read another attempt", lambda: read(f"{other}/job/secret")
    yield "list another attempt", lambda: os.listdir(other)
    yield "list the glidein", lambda: os.listdir(f"{other}/../../glideins")
    yield "write to the glidein", lambda: os.open(f"{other}/../../news/x", os.O_WRONLY | os.O_CREAT)


def span() -> tuple[object, ctypes.c_ulong]:
    memory = (ctypes.c_void_p * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
    return memory, ctypes.c_ulong(1)


def take(number: int) -> None:
    process = os.pidfd_open(1)
    try:
        called(LIBC.syscall(438, process, number, 0))
    finally:
        os.close(process)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def called(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    apart() if sys.argv[2:] == ["apart"] else main()
