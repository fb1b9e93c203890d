"""Starting programs, and ending all that they started."""

from __future__ import annotations

import errno
import functools
import os
import select
import signal
import time
from collections.abc import Iterable
from typing import Any

from broker_core.worker.scripts.plain.records import Order

_RESET = (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)
_MARK = "CROSSDESK_ATTEMPT"
_STEP = 0.05
_OUTPUT = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_SHELL = "/bin/sh"


def redirections(order: Order) -> list[tuple[Any, ...]]:
    """Where standard input, output and error of a program lead, in its directory; raises OSError."""
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, readable(order["stdin"]), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, _with_folders(order["stdout"]), _OUTPUT, 0o600),
    ]
    if order["stderr"] == order["stdout"]:
        actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
    else:
        actions.append((os.POSIX_SPAWN_OPEN, 2, _with_folders(order["stderr"]), _OUTPUT, 0o600))
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
