"""Unsaved text survives a crash: drafts are kept on the disk, and offered at the next start."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.context import AppContext, Notice, Tone
from app.units import counted
from broker_core.system.paths import places

EVERY_MS = 2000
_SUFFIX = ".draft.json"


@dataclass(frozen=True, slots=True)
class Draft:
    """Text that was not saved when its desktop ended."""

    file: Path
    text: str
    path: Path | None
    """The description's own file, if it has one."""


def drafts_directory(context: AppContext) -> Path:
    """Where drafts of the desktop's state directory are kept."""
    return places(context.state_dir).state / "drafts"


class DraftKeeper(QObject):
    """Writes one editor's unsaved text every two seconds if it changed; the file goes when all is saved.

    A draft names the process that wrote it, so that a second window does not take it for a left-over.
    """

    def __init__(self, parent: QObject, directory: Path) -> None:
        super().__init__(parent)
        self.file = directory / f"{secrets.token_hex(8)}{_SUFFIX}"
        self._waiting: tuple[str, Path | None] | None = None
        self._timer = QTimer(self, singleShot=True, interval=EVERY_MS)
        self._timer.timeout.connect(self.write)
        self.fault = ""
        """Why the last draft could not be written; empty if it was."""

    def changed(self, text: str, path: Path | None) -> None:
        """The text is not saved; keep it within two seconds."""
        self._waiting = (text, path)
        if not self._timer.isActive():
            self._timer.start()

    def write(self) -> None:
        """Write what waits, atomically and readable by its owner only."""
        if self._waiting is None:
            return
        text, path = self._waiting
        self._waiting = None
        content = {"text": text, "path": str(path) if path else "", "pid": os.getpid(), "start": _start_of()}
        try:
            self._replace(json.dumps(content).encode("utf-8", "surrogatepass"))
            self.fault = ""
        except OSError as problem:
            self.fault = problem.strerror or "input error"

    def _replace(self, content: bytes) -> None:
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.file.with_suffix(".new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        fresh.replace(self.file)

    def drop(self) -> None:
        """The text is saved or given up: nothing is to be recovered."""
        self._timer.stop()
        self._waiting = None
        self.file.unlink(missing_ok=True)


def drafts(directory: Path) -> list[Draft]:
    """Drafts whose desktop does not run any more, oldest first; unreadable ones are left alone."""
    found = sorted(directory.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime)
    return [draft for file in found if (draft := _read(file)) is not None]


def _read(file: Path) -> Draft | None:
    try:
        said = json.loads(file.read_bytes())
        owner = (int(said["pid"]), str(said["start"]))
        draft = Draft(file, str(said["text"]), Path(said["path"]) if said["path"] else None)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None if _runs(*owner) else draft


def _runs(pid: int, start: str) -> bool:
    return start != "" and _start_of(pid) == start


def _start_of(pid: int | None = None) -> str:
    """When a process began, as its system counts it; empty if it does not run or cannot be told."""
    try:
        stat = Path(f"/proc/{pid or 'self'}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def recover(context: AppContext) -> int:
    """Open an editor for every draft left by a desktop that ended without saving; returns how many.

    The drafts are taken over by the new editors, so none is offered twice.
    """
    left = drafts(drafts_directory(context))
    for draft in left:
        context.open_editor(draft.text, draft.path, ())
        draft.file.unlink(missing_ok=True)
    if left:
        said = counted(len(left), "unsaved description was", "unsaved descriptions were")
        context.notify(Notice(f"{said} recovered from the last session.", Tone.GOOD))
    return len(left)
