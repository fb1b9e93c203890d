"""Finding and ending all processes of an attempt: by its mark, by session and by descent."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from broker_core.sites.endings import Usage
from broker_core.worker.script import MARK

_MARK = MARK.encode() + b"="
_STARTER = b"__attempt="
_SET_CHILD_SUBREAPER = 36
_MANY = 20
"""More new processes than this from one look to the next get no grace: they only make more."""
_FIRST_PAUSE, _MOST_PAUSE = 0.005, 0.1
_RECORDING = 10.0
"""Seconds after the grace that a starter has, once nothing else is left, to clear up and record the end."""


@dataclass(frozen=True, slots=True)
class Process:
    """A live process as /proc shows it."""

    pid: int
    parent: int
    session: int
    tag: str
    """Of the attempt whose mark it carries; empty if none."""
    starter: bool
    """True for the Job Starter itself (or a part of it that has not become a program yet)."""


def adopt_orphans() -> bool:
    """Make this process the parent of what its jobs leave behind, so that leftovers are seen at once.

    False where the kernel cannot; then every end is followed by a look at all processes.
    """
    try:
        done = ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False
    return done and children() is not None


def children() -> set[int] | None:
    """Pids of this process's children (of its main thread, to which orphans go); None if not known."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return {int(pid) for pid in file.read().split()}
    except OSError:
        return None


def look_at(pid: int) -> Process | None:
    """One process; None if it is gone, a zombie, or somebody else's."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
        if fields[0] in (b"Z", b"X"):
            return None
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
    except (OSError, IndexError):
        return None
    return Process(pid, int(fields[1]), int(fields[3]), _tag(environment), _has(environment, _STARTER))


def all_processes() -> list[Process]:
    """Every process of this user that can be looked at."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [found for pid in pids if (found := look_at(pid)) is not None]


def of_attempt(tag: str, starter: int, processes: Iterable[Process]) -> set[int]:
    """Pids that carry the mark, belong to the starter's session, or descend from one that does."""
    by_pid = {process.pid: process for process in processes}
    mine = {
        pid
        for pid, process in by_pid.items()
        if process.tag == tag or (starter and (process.session == starter or pid == starter))
    }
    while more := {pid for pid, process in by_pid.items() if pid not in mine and process.parent in mine}:
        mine |= more
    return mine - {os.getpid()}


async def end_all(tag: str, starter: int, grace: float) -> None:
    """End an attempt: TERM, and after `grace` seconds STOP and KILL, until no process is left.

    The starter gets no TERM, and some time after the last of the others, so that it can clear up and
    record the end; only then it is killed.
    """
    deadline = time.monotonic() + grace
    asked: set[int] = set()
    left, others = _of_both(tag, starter)
    seen, pause = left, _FIRST_PAUSE
    while left:
        if others and (time.monotonic() >= deadline or len(left) > len(seen) + _MANY):
            send(others, signal.SIGSTOP)
            send(_of_both(tag, starter)[1], signal.SIGKILL)
        elif others:
            send(others - asked, signal.SIGTERM)
            asked |= others
        elif time.monotonic() >= deadline + _RECORDING:
            send(left, signal.SIGKILL)
        seen |= left
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _MOST_PAUSE)
        left, others = _of_both(tag, starter)
    reap(seen - {starter})


def _of_both(tag: str, starter: int) -> tuple[set[int], set[int]]:
    """Pids of an attempt, and those among them that are neither its living starter nor a part of that.

    `starter` may also be the program that a lasting starter has begun, which is none of its parts.
    """
    processes = all_processes()
    left = of_attempt(tag, starter, processes)
    parts = {process.pid for process in processes if process.starter} if starter in left else set()
    return left, left - parts


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to those that are still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def reap(pids: Iterable[int]) -> None:
    """Take the exit status of adopted orphans, so that no zombie stays."""
    for pid in pids:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            continue


def is_adopted_zombie(pid: int) -> bool:
    """True for an orphan that ended and was not waited for.

    A leader of a session of its own is not counted: it may be a child that others here wait for.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
    except OSError:
        return False
    return fields[0] == b"Z" and int(fields[3]) not in (pid, os.getsid(0))


def _tag(environment: bytes) -> str:
    at = 0 if environment.startswith(_MARK) else environment.find(b"\0" + _MARK) + 1
    if not at and not environment.startswith(_MARK):
        return ""
    return environment[at + len(_MARK) :].partition(b"\0")[0].decode("utf-8", "replace")


def _has(environment: bytes, name: bytes) -> bool:
    return environment.startswith(name) or b"\0" + name in environment


def outcome(pid: int) -> tuple[int | None, Usage]:
    """Status and usage of a child that has ended; None for each where it is no child of this process."""
    try:
        _, status, usage = os.wait4(pid, 0)
    except ChildProcessError:
        return None, None
    return status, usage
