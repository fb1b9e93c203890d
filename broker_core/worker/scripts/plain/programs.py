"""Starting programs, and ending all that they started."""

from __future__ import annotations

import errno
import functools
import os
import select
import signal
import time
from collections.abc import Iterable

from broker_core.worker.scripts.plain.records import TYPE_CHECKING, Order

if TYPE_CHECKING:
    from typing import Any

_RESET = (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)
_MARK = "CROSSDESK_ATTEMPT"
_STEP = 0.05
_OUTPUT = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_SHELL = "/bin/sh"
_PART = 1 << 16


def redirections(order: Order, directory: str = "") -> list[tuple[Any, ...]]:
    """Where standard input, output and error of a program lead, in its directory, if that is not the current
    one; raises OSError."""
    stdin, stdout = order["stdin"], os.path.join(directory, order["stdout"])
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, readable(stdin and os.path.join(directory, stdin)), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, _with_folders(stdout), _OUTPUT, 0o600),
    ]
    if order["stderr"] == order["stdout"]:
        actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
    else:
        stderr = _with_folders(os.path.join(directory, order["stderr"]))
        actions.append((os.POSIX_SPAWN_OPEN, 2, stderr, _OUTPUT, 0o600))
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


def output_of(words: list[str], seconds: float) -> bytes:
    """What a program writes, all of it within `seconds`; raises OSError. To import `subprocess` is more."""
    reads, writes = os.pipe()
    try:
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, writes, 1)]
        pid = os.posix_spawn(words[0], words, os.environ, file_actions=actions)
    finally:
        os.close(writes)
    found, deadline = b"", time.monotonic() + seconds
    with open(reads, "rb", buffering=0) as stream:
        while select.select([stream], [], [], max(0.0, deadline - time.monotonic()))[0]:
            part = stream.read(_PART)
            if not part:
                break
            found += part
        else:
            os.kill(pid, signal.SIGKILL)
            raise TimeoutError(words[0])
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:
        return found  # nobody hears of the ends of children here
    if status:
        raise OSError(f"{words[0]} has failed")
    return found


def find_program(name: str, path: str, directory: str = "") -> str:
    """Path of a program: in the job's directory, if that is not the current one, absolute, or looked up.
    Raises FileNotFoundError."""
    paths = [name] if "/" in name else [f"{folder}/{name}" for folder in path.split(":") if folder]
    for one in paths:
        at = os.path.join(directory, one)
        if os.path.isfile(at) and os.access(at, os.X_OK):
            return one
    raise FileNotFoundError(name)


def readable(name: str) -> str:
    """Name of an input file, or of none; raises FileNotFoundError, also for a folder: it leads out."""
    if name and (os.path.isdir(name) or not os.access(name, os.R_OK)):
        raise FileNotFoundError(name)
    return name or os.devnull


def _with_folders(name: str) -> str:
    """An output file; makes the folders on the way."""
    if "/" in name:
        os.makedirs(os.path.dirname(name), exist_ok=True)
    return name


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
