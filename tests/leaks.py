"""What a test leaves running in its own process: threads, tasks, timers of Qt, child processes."""

from __future__ import annotations

import asyncio
import asyncio.runners
import ctypes
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.running import children, processes_of
from tests.testbed.guardian import guarded
from tests.waiting import wait_until

GRACE = 5.0
"""Seconds that what ends by itself is given: a thread that was told to, a child that was killed."""
_SHARED_THREADS = (
    "AnyIO worker", "QThread", "ThreadPoolExecutor", "asyncio_", "check_", "pytest_timeout",
    "ssh-configuration_", "loading consoles",
)  # fmt: skip
"""Idle threads of pools that are kept for the next call and end with the process or the loop; and the one
that loads once for the process whatever consoles need."""
_SHARED_CHILDREN = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Python starts them once for all and ends them with itself."""
_lasting: dict[Path, int] = {}
"""Folder of each test bed of a wider scope to the pid of its guardian."""

_SET_CHILD_SUBREAPER = 36
_CANCEL_ALL: Any = asyncio.runners._cancel_all_tasks
_CLOSING_GENERATOR = "async_generator_athrow"
"""What a loop itself starts for an asynchronous generator that was dropped amid its items."""


@contextmanager
def lasting() -> Iterator[None]:
    """A test bed that is made in the block outlives the test that happens to ask for it first, and its
    daemons the one that starts them anew: the fixture that makes it has a wider scope, and ends it."""
    before = set(guarded)
    yield
    _lasting.update({folder: pid for folder, pid in guarded.items() if folder not in before})


@contextmanager
def nothing_left(grace: float = GRACE) -> Iterator[None]:
    """Fail if a thread, a child or a task that began in the block outlives it.

    Daemons of a lasting test bed may be started anew in the block.
    """
    _adopt_nobody()
    threads, processes = set(threading.enumerate()), children()
    with _unfinished_tasks() as tasks:
        yield

    def left() -> list[str]:
        return [
            *(f"thread {thread.name}" for thread in _new_threads(threads)),
            *(f"process {pid} {_command(pid)}" for pid in _new_children(processes)),
        ]

    wait_until(lambda: not left(), grace, what=lambda: f"an end of what the test left running: {left()}")
    assert not tasks, f"tasks that nothing ended before their loop: {tasks}"


def _adopt_nobody() -> None:
    """Orphans go to init, until the test makes a local site of its own: a former one's adopted them all."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _new_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    return [
        thread
        for thread in threading.enumerate()
        if thread not in before and not thread.name.startswith(_SHARED_THREADS)
    ]


def _new_children(before: set[int]) -> list[int]:
    new = [
        pid
        for pid in children() - before
        if _lives(pid) and not any(name in _command(pid) for name in _SHARED_CHILDREN)
    ]
    return [
        pid
        for pid in new
        if pid not in _lasting.values() and not any(pid in processes_of(folder) for folder in _lasting)
    ]


def _lives(pid: int) -> bool:
    """False also for one that has ended, and only was not asked for its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:  # it has ended meanwhile
        return False


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:  # it has ended meanwhile
        return ""


@contextmanager
def _unfinished_tasks() -> Iterator[list[str]]:
    """Collect the tasks that a loop's end cancels, because nothing else did.

    `asyncio.Runner` cancels them without a word; its function for that is the one point that every end of a
    loop passes, in `asyncio.run` and in the plugin that runs the tests.
    """
    found: list[str] = []
    before: Any = asyncio.runners._cancel_all_tasks

    def telling(loop: asyncio.AbstractEventLoop) -> None:
        found.extend(
            f"task {task.get_name()}: {task.get_coro()}"
            for task in asyncio.all_tasks(loop)
            if type(task.get_coro()).__name__ != _CLOSING_GENERATOR
        )
        _CANCEL_ALL(loop)

    asyncio.runners._cancel_all_tasks = telling
    try:
        yield found
    finally:
        asyncio.runners._cancel_all_tasks = before


def running_timers() -> list[str]:
    """Timers of Qt that run though no test does; objects that are to be deleted when the loop is back are
    freed first. What is there now is left out of collections until somebody unfreezes it."""
    if "PySide6.QtCore" not in sys.modules:
        return []
    from PySide6.QtCore import QCoreApplication, QEvent, QTimer
    from shiboken6 import isValid

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.unfreeze()
    timers = [one for one in gc.get_objects() if isinstance(one, QTimer)]
    gc.freeze()
    return [f"timer of {one.parent()!r}" for one in timers if isValid(one) and one.isActive()]
