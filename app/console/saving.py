"""A transcript on its way into a file: asked for where to, written beside the window, and told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QFileDialog, QWidget

from app.context import Notice, Tone
from app.saving import ask_where, not_saved

if TYPE_CHECKING:
    from app.context import Desk

TEXT, WRITTEN = "Text as it was shown (*.txt)", "What the program wrote, byte by byte (*.log)"


class Save(Protocol):
    """Saves into a file, as text or byte by byte."""

    def __call__(self, path: str, *, text: bool) -> None: ...


def ask(parent: QWidget, save: Save) -> QFileDialog:
    """Ask for a file, and for text or bytes; then save."""

    def write(path: Path) -> None:
        save(str(path), text=dialog.selectedNameFilter() == TEXT)

    filters = TEXT, WRITTEN
    dialog = ask_where(
        parent, "Save the transcript", write, name="console.txt", suffix="txt", filters=filters
    )
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("txt" if chosen == TEXT else "log"))
    return dialog


async def saved(desk: Desk, path: Path, write: Callable[[], int]) -> None:
    """Write in a thread of its own and say so; raises CrossDeskError."""
    try:
        size = await asyncio.to_thread(write)
    except OSError as error:
        raise not_saved("The transcript", path, error) from error
    desk.notify(Notice(f"The transcript is in {path}, {size:,} bytes.", Tone.GOOD))
