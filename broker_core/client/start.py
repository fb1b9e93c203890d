"""A broker on demand: started if none answers, replaced if an older one does."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import orjson

from broker_core.client import probe
from broker_core.client.answers import refusal
from broker_core.errors import CrossDeskError, Unreachable
from broker_core.system.paths import Paths, places
from broker_core.system.priority import BROKER_NICE, session_gives_way
from broker_core.system.process_limits import shortage
from broker_core.version import VERSION

READY_WITHIN = 60.0
"""Seconds that a starting broker may take until it answers (a large store takes longer to load)."""

_STEP = 0.02
_BACK_OFF = (0.2, 1.0, 3.0)


class _Child(subprocess.Popen[bytes]):
    """A broker that this process started. It outlives its starter by intent: nobody has to wait for it."""

    def __del__(self) -> None:
        """Give up the handle without the warning about a process that still runs."""


_children: list[_Child] = []
"""Brokers that this process started, kept until they have ended."""


async def ensure_broker(state_dir: Path | str | None = None) -> None:
    """Return when a broker of this version or a newer one answers, having started one if need be.

    Raises what the broker itself says if it cannot start, e.g. StateDirectoryTaken.
    """
    try:
        await asyncio.to_thread(start_broker, state_dir)
    except RuntimeError as error:
        raise shortage(error) or error from error


def answers(state_dir: Path | str | None = None) -> bool:
    """True if a broker answers now."""
    return probe.info(places(state_dir).socket) is not None


def start_broker(state_dir: Path | str | None = None) -> None:
    """`ensure_broker` for callers without an event loop."""
    where = places(state_dir)
    if _current(where):
        return
    with _one_starter(where):
        if not _current(where):
            _replace(where)


def _current(where: Paths) -> bool:
    """True if a broker of this version or a newer one answers; raises Unreachable where one hangs: beside it
    no other can be started."""
    began = time.monotonic()
    said = probe.info(where.socket)
    if said is None and time.monotonic() - began >= probe.SECONDS and probe.listens(where.socket):
        pid = where.read_holder().get("pid", "its number stands in broker.json")
        raise Unreachable(
            "The broker is there and does not answer.",
            place=str(where.state),
            remedy=f"Wait until it goes on, or end its process ({pid}).",
        )
    return said is not None and release(str(said["version"])) >= release(VERSION)


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparing."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0]))


def _replace(where: Paths) -> None:
    """Ask an older broker to hand over, then start one of this version."""
    if probe.info(where.socket) is not None:
        got = probe.ask(where.socket, "POST", "/v1/broker/handover")
        if got is not None and got[0] >= 400:
            raise refusal(*got)
        _until_gone(where)
    for pause in (*_BACK_OFF, 0.0):
        failure = _start(where)
        if failure is None:
            return
        if failure.code != "broker_died" or not pause:
            raise failure
        _wait_for_other(where, pause)
        if _current(where):
            return


def _until_gone(where: Paths) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while probe.listens(where.socket):
        if time.monotonic() > deadline:
            raise Unreachable(
                "The older broker was asked to hand over and has not ended.",
                place=str(where.state),
                remedy="Stop it with `crossdesk broker stop`.",
            )
        _pause(_STEP)


def _start(where: Paths) -> CrossDeskError | None:
    """Start a broker; None when one answers, else why it ended."""
    _children[:] = [child for child in _children if child.poll() is None]
    with tempfile.TemporaryFile() as told:
        child = _spawn(where, told)
        _children.append(child)
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            if probe.info(where.socket) is not None:
                return None
            try:
                code = child.wait(_STEP)
            except subprocess.TimeoutExpired:
                continue
            return None if _taken_over(where) else _why(code, told, where)
    return Unreachable(
        f"The broker was started but does not answer after {READY_WITHIN:g} s.",
        place=str(where.state),
        remedy=f"Its log is {where.log}.",
    )


def _spawn(where: Paths, told: IO[bytes]) -> _Child:
    words = [sys.executable, "-m", "broker_core.broker.daemon", "--state-dir", str(where.state)]
    none = subprocess.DEVNULL
    try:
        child = _Child(words, stdin=none, stdout=none, stderr=told, cwd="/", start_new_session=True)
    except BlockingIOError as error:
        raise shortage(error) or error from error
    session_gives_way(child.pid, BROKER_NICE)
    return child


def _taken_over(where: Paths) -> bool:
    """True if another starter's broker answers: ours ended because that one was first."""
    return probe.info(where.socket) is not None


def _why(code: int, told: IO[bytes], where: Paths) -> CrossDeskError:
    """The error that a broker left on its standard error: JSON in its last line, or plain words."""
    told.seek(0)
    lines = told.read()[-20_000:].splitlines()
    for line in reversed(lines):
        if line.startswith(b"{"):
            return _refused(line)
    last = lines[-1].decode(errors="replace") if lines else ""
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return Unreachable(
        f"The broker ended {how} while starting. {last}".strip(),
        place=str(where.state),
        remedy=f"Its log is {where.log}.",
        code="broker_died",
    )


def _refused(line: bytes) -> CrossDeskError:
    try:
        status = int(orjson.loads(line).get("status", 500))
    except (orjson.JSONDecodeError, ValueError):
        status = 500
    return refusal(status, line)


def _wait_for_other(where: Paths, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not _current(where):
        _pause(_STEP)


@contextmanager
def _one_starter(where: Paths) -> Iterator[None]:
    """Let one process at a time start a broker; where no lock can be had the broker's own lock decides."""
    if os.name != "posix":
        yield
        return
    import fcntl

    try:
        where.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(where.state, os.O_RDONLY)
    except OSError:
        yield  # the broker will say what is wrong with the directory
        return
    try:
        _lock(lambda: fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB), where)
        yield
    finally:
        os.close(handle)


def _lock(take: Callable[[], None], where: Paths) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        try:
            take()
        except OSError:
            if _current(where):
                return
            _pause(_STEP)
        else:
            return


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)
