"""A replay as a child process: the window never waits for it, and closing the page ends it."""

from __future__ import annotations

import json
import sys
from typing import Any

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

_GRACE = 2000
"""Milliseconds between the request to end and the order to."""


class Child(QObject):
    """Runs `crossdesk sim ...` with the words given, and reads the JSON that it writes: values of one line
    as they come, one of several lines at the end."""

    told = Signal(dict)
    """A value that it wrote."""
    failed = Signal(str)
    """It ended badly; why, in words."""
    over = Signal()
    """It has ended, well or not, or was cancelled."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None
        self._canceled = False
        self._rest, self._unread = b"", b""

    @property
    def running(self) -> bool:
        """True until it has ended."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """Its process id; 0 if there is none."""
        return int(self._process.processId()) if self._process is not None else 0

    def start(self, words: list[str]) -> None:
        """Start it; does nothing while one runs."""
        if self._process is not None:
            return
        self._canceled, self._rest, self._unread = False, b"", b""
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._ended)
        process.errorOccurred.connect(self._broken)
        process.start(sys.executable, ["-m", "app.launch", "sim", *words])

    def cancel(self) -> None:
        """End it; `over` follows."""
        process = self._process
        if process is not None:
            self._canceled = True
            process.terminate()
            QTimer.singleShot(_GRACE, process, process.kill)

    def end(self) -> None:
        """End it at once and wait for that, if it still runs."""
        process = self._process
        if process is not None:
            self._canceled = True
            process.kill()
            process.waitForFinished(_GRACE)

    def _read(self) -> None:
        """Take the lines that are whole."""
        if self._process is not None:
            self._take(bytes(self._process.readAllStandardOutput().data()))

    def _take(self, content: bytes) -> None:
        lines = (self._rest + content).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            said = _object(line)
            if said:
                self.told.emit(said)
            else:
                self._unread += line + b"\n"

    def _ended(self, code: int, how: QProcess.ExitStatus) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        self._take(bytes(process.readAllStandardOutput().data()))  # a slot that still runs hears of no more
        said = _object(self._unread + self._rest)
        if not self._canceled and said and not code:
            self.told.emit(said)
        complaint = bytes(process.readAllStandardError().data()).decode(errors="replace").strip()
        process.deleteLater()
        if not self._canceled and (code or how is QProcess.ExitStatus.CrashExit):
            last = complaint.splitlines()[-1] if complaint else f"It ended with exit code {code}."
            self.failed.emit(_error(said) or last)
        self.over.emit()

    def _broken(self, error: QProcess.ProcessError) -> None:
        """It could not even be started: then no `finished` follows."""
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            why, self._process = self._process.errorString(), None
            self.failed.emit(f"The simulation could not be started: {why}")
            self.over.emit()


def _object(line: bytes) -> dict[str, Any]:
    """A line of JSON; empty for one that is none."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _error(said: dict[str, Any]) -> str:
    """What the command line says of an error; empty if it says nothing."""
    error = said.get("error")
    if not isinstance(error, dict):
        return ""
    place = f"{error['place']}:" if error.get("place") else ""
    return " ".join(part for part in (place, error.get("message"), error.get("remedy")) if part)
