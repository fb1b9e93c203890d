"""The broker as a process: `python -m broker_core.broker.daemon --state-dir DIR`.

Ends with 0 after a clean stop, 3 where another broker holds the state directory, else 1. A refusal to
start is the last line of standard error: JSON with status, code, message, place and remedy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker_core.broker.engine.failpoints import from_environment
from broker_core.errors import CrossDeskError, StateDirectoryTaken
from broker_core.system.gc_tuning import collect_rarely, loading
from broker_core.system.paths import Paths, places

if TYPE_CHECKING:
    from broker_core.settings.settings import Settings


KEPT = 3
"""Old log files kept."""
TAKEN = 3
"""Exit code where another broker holds the state directory."""
THREADS = 6
"""Threads for file and processor work beside the event loop."""


class _PrivateFile(RotatingFileHandler):
    """A rotating log whose files are 0600."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return open(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk must not stop the broker: the line is lost, the store says that the disk is full."""


def open_log(path: Path, size: int) -> logging.Handler:
    """Send everything that the broker logs to `path`; returns the handler. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = _PrivateFile(path, maxBytes=size, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for noisy in ("asyncio", "asyncssh", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return handler


def main(words: Sequence[str] | None = None) -> int:
    """Serve until stopped; returns the exit code."""
    given = _arguments().parse_args(words)
    where = places(given.state_dir)
    try:
        return _main(given, where)
    except StateDirectoryTaken as error:
        _tell(error)
        return TAKEN
    except CrossDeskError as error:
        _tell(error)
        return 1


def _main(given: argparse.Namespace, where: Paths) -> int:
    from broker_core.settings.settings import load
    from broker_core.sites.transport.login_agent import LOGIN_AGENT

    settings = load(where.settings, {"cpus": given.cpus, "mode": given.mode})
    LOGIN_AGENT.take(os.environ, settings.mode)
    if given.show_settings:
        for name, value, origin, meaning in settings.table():
            sys.stdout.write(f"{name} = {value!r}  # {origin}: {meaning}\n")
        return 0
    return _serve(where, settings)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="broker", description="The CrossDesk broker.")
    parser.add_argument("--state-dir", type=Path, help="directory of jobs, files and logs")
    parser.add_argument("--cpus", type=int, help="processors that the local site offers")
    parser.add_argument("--mode", help="embedded, shared or compatible")
    parser.add_argument("--show-settings", action="store_true", help="print every setting with its origin")
    return parser


def _serve(where: Paths, settings: Settings) -> int:
    with loading():
        import uvloop

        from broker_core.broker.daemon.assembly import unusable

    os.umask(0o077)
    try:
        where.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        where.state.chmod(0o700)
        where.stopped.unlink(missing_ok=True)
        handler = open_log(where.log, settings.log_bytes)
    except OSError as error:
        raise unusable(where, error) from error
    try:
        return uvloop.run(_run(where, settings))
    finally:
        handler.close()


async def _run(where: Paths, settings: Settings) -> int:
    from broker_core.bookkeeping.store import Store
    from broker_core.bookkeeping.threads import ready_threads
    from broker_core.broker.daemon.assembly import Broker, unusable

    collect_rarely()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ready_threads(THREADS, "worker"))
    ended: asyncio.Future[int] = loop.create_future()
    fail = from_environment()
    store = Store.open(
        where.store, host=socket.gethostname(), pid=os.getpid(), fail=fail if fail.active else None
    )

    def stop(reason: str, code: int = 0) -> None:
        if not ended.done():
            ended.set_result(code)

    try:
        broker = Broker(where, settings, store, fail, stop)
    except OSError as error:
        raise unusable(where, error) from error
    store.listen(fatal=lambda error: stop(str(error), 1))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, f"signal {number}")
    await broker.start()
    code = await ended
    await broker.stop()
    return code


def _tell(error: CrossDeskError) -> None:
    said: dict[str, Any] = {
        "status": error.status,
        "code": error.code,
        "message": error.message,
        "place": error.place,
        "remedy": error.remedy,
    }
    sys.stderr.write(f"{error}\n{json.dumps(said)}\n")
