"""Bringing files of a job to where the user wants them: saved, opened outside, or dragged out."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QWidget

from app.context import Notice, Tone
from app.inspector import job_times
from app.inspector.own_folder import OwnFolder
from app.widgets.save_dialog import ask_where, not_saved

if TYPE_CHECKING:
    from app.context import AppContext


def save_one(parent: QWidget, context: AppContext, job: str, path: str) -> QFileDialog:
    """Ask where to, and save one file of a job there."""
    name = PurePosixPath(path).name or "output"

    def save(target: Path) -> None:
        context.run(save_to(context, job, path, target), f"saving {name}")

    return ask_where(parent, "Save as", save, name=name)


async def save_to(context: AppContext, job: str, path: str, target: Path) -> None:
    """Save one file of a job as `target` and say so."""
    size = await copy(context, job, path, target)
    said = f"Saved {target.name} ({job_times.size(size)}) in {target.parent}."
    context.notify(Notice(said, Tone.GOOD, job=job))


async def copy(context: AppContext, job: str, path: str, target: Path) -> int:
    """Copy one file of a job to `target`; returns its size. Raises CrossDeskError with the place."""
    from broker_core.client.fetch import save_file

    try:
        return await save_file(context.client, job, path, target)
    except OSError as error:
        raise not_saved("The file", target, error) from error


class Copies:
    """Local copies of a job's files for other programs; gone with the window."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._folder = OwnFolder()
        self._number = 0
        self._known: dict[tuple[str, str, int, float], Path] = {}

    def ready(self, job: str, path: str, size: int, modified: float) -> Path | None:
        """Return the copy if there is one of just this state of the file."""
        return self._known.get((job, path, size, modified))

    async def bring(self, job: str, path: str, size: int, modified: float) -> Path:
        """Copy a file here, once for each state of it, under its own base name."""
        key = (job, path, size, modified)
        if key not in self._known:
            self._number += 1
            target = self._new_folder(str(self._number)) / (PurePosixPath(path).name or "output")
            await copy(self._context, job, path, target)
            self._known[key] = target
        return self._known[key]

    def _new_folder(self, name: str) -> Path:
        try:
            folder = self._folder.path() / name
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise not_saved("The copy", Path(error.filename or name), error) from error
        return folder
