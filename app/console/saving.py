"""A transcript on its way into a file: asked for where to, written beside the window, and told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QFileDialog, QWidget

from app.context import Notice, Tone
from app.inspector.save import downloads
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import Desk

TEXT, WRITTEN = "Text as it was shown (*.txt)", "What the program wrote, byte by byte (*.log)"


class Save(Protocol):
    """Saves into a file, as text or byte by byte."""

    def __call__(self, path: str, *, text: bool) -> None: ...


def ask(parent: QWidget, save: Save) -> QFileDialog:
    """Ask for a file, and for text or bytes; then save."""
    dialog = QFileDialog(parent, "Save the transcript", downloads())
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([TEXT, WRITTEN])
    dialog.setDefaultSuffix("txt")
    dialog.selectFile("console.txt")
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("txt" if chosen == TEXT else "log"))
    dialog.fileSelected.connect(lambda path: save(path, text=dialog.selectedNameFilter() == TEXT))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


async def saved(desk: Desk, path: Path, write: Callable[[], int]) -> None:
    """Write in a thread of its own and say so; raises CrossDeskError."""
    try:
        size = await asyncio.to_thread(write)
    except OSError as error:
        raise CrossDeskError(
            f"The transcript cannot be written: {error.strerror}.",
            place=str(path),
            remedy="Choose a folder that you may write to.",
        ) from error
    desk.notify(Notice(f"The transcript is in {path}, {size:,} bytes.", Tone.GOOD))
