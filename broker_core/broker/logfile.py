"""The broker's log file: turned over by size, only for its owner, never with a job's content."""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

KEPT = 3
"""Old log files kept."""


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
